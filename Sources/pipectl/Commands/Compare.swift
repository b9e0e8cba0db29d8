import Archive
import ArgumentParser
import BuildBox
import Engine

struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Holds a run's tests and findings against its target's, or against another run.",
        discussion: """
            Newly failing, still failing, fixed, added, removed, newly skipped and renamed tests, tests that are slower \
            than their own past explains, and new findings. A test is renamed where its body is there again under \
            another name.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The run's number.") var run: Int64
    @Argument(help: "The run that it is held against; without one, the newest of what the change wants into.")
    var against: Int64?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let comparison = try await state.ask(.compare(run, against: against), "compare") {
            if case .comparison(let comparison) = $0 { comparison } else { nil }
        }
        if json { return try JSONOutput.print(comparison) }
        Terminal.put(TestTables.comparison(comparison, of: run))
    }
}
