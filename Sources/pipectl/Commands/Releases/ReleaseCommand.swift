import ArgumentParser
import Client
import Control
import Results

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Shows a release, edits its notes, copies or checks its files, or withdraws it.",
        discussion: """
            A workflow makes releases: `Release(version: .tag(), needs: build)`. Its notes can be edited until the first \
            step publishes it; then its list of files is signed with the notes.
            """,
        subcommands: [
            ReleaseShow.self, ReleaseNotesCommand.self, ReleaseFilesCommand.self, ReleaseVerify.self, ReleaseYank.self,
        ],
        defaultSubcommand: ReleaseShow.self)
}

/// One release, by its version.
struct ReleaseOption: ParsableArguments {
    @OptionGroup var state: StateOptions
    @OptionGroup var repository: RepositoryOption
    @Argument(help: "The version or tag. Default: the highest version that was not withdrawn.")
    var version = ReleaseVersion.newest

    var subject: ReleaseSubject { ReleaseSubject(repository: repository.place, version: version) }

    func detail() async throws -> ReleaseDetail {
        let subject = subject
        return try await state.ask(.release(subject), "release") {
            if case .release(let detail) = $0 { detail } else { nil }
        }
    }
}
