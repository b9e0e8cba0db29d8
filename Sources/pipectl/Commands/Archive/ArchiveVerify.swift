import ArgumentParser
import Client
import Control

struct ArchiveVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every digest, and the index against the archive.")
    @OptionGroup var state: StateOptions

    func run() async throws {
        let problems = try await state.ask(.verifyArchive, "archive verify") {
            if case .problems(let problems) = $0 { problems } else { nil }
        }
        for problem in problems { Terminal.print(problem) }
        guard problems.isEmpty else {
            throw CommandEnd(
                code: 1,
                message: "\(Count.text(problems.count, "problem")); `pipectl archive reindex` rebuilds the index")
        }
        Terminal.say("the archive is intact")
    }
}
