import Archive
import ArgumentParser
import BuildBox

struct TestsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tests", abstract: "Tests across runs: the history of one, the flaky ones, two runs compared.",
        subcommands: [TestsHistory.self, TestsFlaky.self, TestsCompare.self])
}

/// Which runs are looked at.
struct TestScope: ParsableArguments {
    @Option(help: "Only runs of this repository.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?
}
