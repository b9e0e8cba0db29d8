import ArgumentParser
import Client
import Control
import Results

struct Releases: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "releases", abstract: "Lists releases: version, commit, and who has it.")

    @OptionGroup var state: StateOptions
    @Option(help: "Only those of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "How many.") var limit = 50
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if !(1...1_000).contains(limit) { throw ValidationError("--limit takes 1 to 1000") }
    }

    func run() async throws {
        let query = ReleasesQuery(repository: repository.map(RunSubject.repository), limit: limit)
        let releases = try await state.ask(.releases(query), "releases") {
            if case .releases(let releases) = $0 { releases } else { nil }
        }
        if json { return try JSONOutput.print(releases) }
        guard !releases.isEmpty else {
            return Terminal.say("there is no release; a workflow makes one with Release(version: …)")
        }
        Terminal.put(ReleaseText.table(releases))
    }
}
