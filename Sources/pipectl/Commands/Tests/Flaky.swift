import ArgumentParser
import Client
import Control
import Results
import StateFiles

struct Flaky: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flaky", abstract: "Lists tests that failed and passed on the same tree, highest rate first.",
        discussion: """
            Two runs of the same tree test the same code, so a test with both results is flaky, \
            whatever the verdict of the run was. The rate is the share of its runs with both results. \
            The plot has one bar per run, newest last: low passed, half passed on a later attempt, full failed.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Option(help: "Look at the newest N runs that had tests.") var runs = 1_000
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if !(1...100_000).contains(runs) { throw ValidationError("--runs takes 1 to 100000") }
    }

    func run() async throws {
        let query = TestFilter(repository: scope.place, workflow: scope.workflow, limit: runs)
        let tests = try await state.ask(.flakyTests(query), "flaky") {
            if case .flaky(let tests) = $0 { tests } else { nil }
        }
        if json { return try JSONOutput.print(tests) }
        guard !tests.isEmpty else {
            return Terminal.say("no flaky tests in the newest \(runs) runs")
        }
        Terminal.put(TestTables.flaky(tests))
    }
}
