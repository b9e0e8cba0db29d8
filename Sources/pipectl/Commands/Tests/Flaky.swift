import Results
import ArgumentParser
import BuildBox

struct Flaky: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flaky", abstract: "Tests that failed and passed on the same tree, worst rate first.",
        discussion: """
            Nothing that a test tests can have changed between two runs of one tree, so a test that came out both ways \
            there is flaky, whatever the verdict of its run was. The rate is the part of its runs in which that happened. \
            The plot has a sign for each of its newest runs: low passed, half passed at a further try, full failed.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Option(help: "Among so many newest runs that had tests.") var runs = 1_000
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
            return Terminal.say("no test came out both ways on one tree in the newest \(runs) runs")
        }
        Terminal.put(TestTables.flaky(tests))
    }
}
