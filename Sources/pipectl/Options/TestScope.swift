import ArgumentParser
import Client

/// Limits the runs that are searched.
struct TestScope: ParsableArguments {
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?

    /// The repository for the daemon, which can't resolve relative paths of this process.
    var place: String? { repository.map(RunSubject.repository) }
}
