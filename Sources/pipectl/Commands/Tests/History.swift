import Results
import ArgumentParser
import BuildBox

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "How a test came out, newest run first, with a plot.")

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Argument(help: "The test as a report names it, or a part of that which only one has.") var test: String
    @Option(name: [.customShort("n"), .long], help: "At most so many results.") var limit = 30
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
