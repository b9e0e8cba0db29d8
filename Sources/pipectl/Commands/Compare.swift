import ArgumentParser
import BuildBox

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
    @Argument(help: RunArgument.help) var run: RunArgument
    @Argument(help: "The run to compare with, named in the same ways. Default: the newest of the target.")
    var against: RunArgument?
    @Flag(help: "Print JSON.") var json = false

    mutating func run() async throws {
        try await state.resolve(&run)
        var other = against
        if var named = other {
            try await state.resolve(&named)
            other = named
        }
        let comparison = try await state.ask(.compare(run.id, against: other?.id), "compare") {
            if case .comparison(let comparison) = $0 { comparison } else { nil }
        }
        if json { return try JSONOutput.print(comparison) }
        Terminal.put(TestTables.comparison(comparison, of: run.id))
    }
}
