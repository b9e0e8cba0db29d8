import ArgumentParser

/// Which runs are looked at.
struct TestScope: ParsableArguments {
    @Option(help: "Only runs of this repository.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?
}
