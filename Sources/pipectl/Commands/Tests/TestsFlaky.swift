import Archive
import ArgumentParser
import BuildBox

struct TestsFlaky: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flaky", abstract: "Tests that failed and passed on the same tree, worst rate first.",
        discussion: """
            Nothing that a test tests can have changed between two runs of one tree, so a test that came out both ways \
            there is flaky, whatever the verdict of its run was. The rate is the part of its runs in which that happened.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Option(help: "Among so many newest runs that had tests.") var runs = 1_000
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if !(1...100_000).contains(runs) { throw ValidationError("--runs takes 1 to 100000") }
    }

    func run() async throws {
        let query = TestFilter(repository: scope.repository, workflow: scope.workflow, limit: runs)
        let tests = try await state.ask(.flakyTests(query), "tests") {
            if case .flaky(let tests) = $0 { tests } else { nil }
        }
        if json { return try JSONOutput.print(tests) }
        if tests.isEmpty { Terminal.say("no test came out both ways on one tree in the newest \(runs) runs") }
        Terminal.put(TestTables.flaky(tests))
    }
}
