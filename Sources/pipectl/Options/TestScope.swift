import ArgumentParser
import Client

/// Which runs are looked at.
struct TestScope: ParsableArguments {
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?

    /// The repository for the box, which knows no relative path.
    var place: String? { repository.map(RunSubject.repository) }
}
