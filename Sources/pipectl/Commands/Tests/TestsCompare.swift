import Archive
import ArgumentParser
import BuildBox
import Engine

struct TestsCompare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Holds the tests of a run against those of another one.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The run's number.") var run: Int64
    @Argument(help: "The run that it is held against.") var against: Int64
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let comparison = try await state.ask(.compare(run, against: against), "tests") {
            if case .comparison(let comparison) = $0 { comparison } else { nil }
        }
        if json { return try JSONOutput.print(comparison) }
        Terminal.put(TestTables.comparison(comparison, of: run))
    }
}
