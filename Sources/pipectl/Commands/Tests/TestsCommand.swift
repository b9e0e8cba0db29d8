import Archive
import ArgumentParser
import BuildBox

struct TestsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tests", abstract: "The tests of two runs compared.", subcommands: [TestsCompare.self])
}

/// Which runs are looked at.
struct TestScope: ParsableArguments {
    @Option(help: "Only runs of this repository.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?
}
