import ArgumentParser
import Client
import Control
import Results
import StateFiles

struct Slowest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slowest", abstract: "Lists the slowest tests by median duration, with a plot.")

    @OptionGroup var state: StateOptions
    @OptionGroup var scope: TestScope
    @Option(help: "Look at the newest N runs that had tests.") var runs = 50
    @Option(name: [.customShort("n"), .long], help: "Show at most N tests.") var limit = 20
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if !(1...10_000).contains(runs) { throw ValidationError("--runs takes 1 to 10000") }
        if !(1...1_000).contains(limit) { throw ValidationError("--limit takes 1 to 1000") }
    }

    func run() async throws {
        let query = TestFilter(repository: scope.place, workflow: scope.workflow, limit: runs)
        let tests = try await state.ask(.slowestTests(query, limit), "slowest") {
            if case .slowest(let tests) = $0 { tests } else { nil }
        }
        if json { return try JSONOutput.print(tests) }
        if tests.isEmpty { Terminal.say("no run has reported the duration of its tests") }
        Terminal.put(TestTables.slowest(tests))
    }
}
