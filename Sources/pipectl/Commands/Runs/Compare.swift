import ArgumentParser
import Client
import Control
import StateFiles

struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compares a run's tests and findings with its target's, or with another run.",
        discussion: """
            Lists newly failing, still failing, fixed, added, removed, newly skipped, renamed and slower tests, and new \
            findings. A test counts as slower if it exceeds its usual range, and as renamed if the same body has \
            another name now.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help) var run: RunArgument
    @Argument(help: "The run to compare with, named in the same way. Default: the target's newest run.")
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
