import ArgumentParser
import Client
import Control
import Results

struct ReleaseYank: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "yank",
        abstract: "Withdraws a release: it is not published any further, and is marked as withdrawn here.",
        discussion: """
            What is published already stays where it is: the command names the places, where you remove or mark it. The \
            version is not used again.
            """)

    @OptionGroup var release: ReleaseOption
    @Option(help: "Why, for everybody who looks at it.") var reason: String

    func validate() throws {
        if release.version == ReleaseVersion.newest { throw ValidationError("name the version that is withdrawn") }
    }

    func run() async throws {
        try await release.state.act(.yankRelease(release.subject, reason: reason), "release yank")
    }
}
