import ArgumentParser
import Client
import Control
import Results
import StateFiles

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows a test's results, newest run first, with a plot.")

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Argument(help: "The test's name in a report, or a part of the name that is unique.") var test: String
    @Option(name: [.customShort("n"), .long], help: "Show at most N results.") var limit = 30
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let query = TestFilter(repository: scope.place, workflow: scope.workflow, limit: limit)
        let appearances = try await state.ask(.testHistory(test, query), "history") {
            if case .appearances(let appearances) = $0 { appearances } else { nil }
        }
        if json { return try JSONOutput.print(appearances) }
        Terminal.put(TestTables.history(appearances, colour: Terminal.hasColour))
    }
}
