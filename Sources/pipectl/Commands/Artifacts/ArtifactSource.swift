import Archive
import ArgumentParser
import Client
import Control
import Foundation
import Results

/// Selects a run and some of its artifacts.
struct ArtifactSource: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "\(RunArgument.help.abstract) With --branch, this argument is the pattern instead.", valueName: "run"))
    var first: String?
    @Argument(help: ArgumentHelp("Only paths that match this glob, or files of this name.", valueName: "pattern"))
    var second: String?
    @Option(help: "Use the newest run of this branch that passed and has artifacts.") var branch: String?
    @Flag(help: "With --branch: use the newest run (the default).") var latest = false
    @Option(help: "Only runs of this workflow.") var workflow: String?
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only artifacts of this step.") var step: String?

    func validate() throws {
        if branch == nil {
            if latest { throw ValidationError("--latest goes with --branch NAME") }
            guard let first else { throw ValidationError("name a run, or --branch NAME --latest") }
            if RunArgument(argument: first) == nil { throw ValidationError("\"\(first)\" does not name a run") }
        } else if second != nil {
            throw ValidationError("name a run or a branch, not both")
        }
    }

    private var pattern: String? { branch == nil ? second : first }

    /// Finds the run and the selected artifacts.
    func find(_ state: StateOptions) async throws -> (run: Int64, artifacts: [ArtifactRecord]) {
        let loader = try ReportLoader(state.folder())
        guard let branch else {
            guard let first, var run = RunArgument(argument: first) else {
                throw ValidationError("name a run, or --branch NAME --latest")
            }
            try await state.resolve(&run)
            let artifacts = try await loader.store.report(run.id).artifacts
            return (
                run.id, try ArtifactExport.select(artifacts, matching: pattern, step: step, of: run.id)
            )
        }
        var query = RunsQuery(
            repository: repository.map(RunSubject.repository), workflow: workflow, branch: branch, states: [.ended],
            verdicts: [.passed, .flaky], limit: 200)
        query.branch = branch
        let wanted = query
        let runs = try await state.ask(.runs(wanted), "artifacts") {
            if case .runs(let runs) = $0 { runs } else { nil }
        }
        for run in runs where run.change == nil && run.isArchived {
            let artifacts = try await loader.store.report(run.id).artifacts
            guard !artifacts.isEmpty else { continue }
            return (run.id, try ArtifactExport.select(artifacts, matching: pattern, step: step, of: run.id))
        }
        throw CommandEnd(
            code: 2,
            message:
                "no run of branch \"\(branch)\" passed and has artifacts; `pipectl runs --branch \(branch)` lists its runs"
        )
    }
}
