import DaemonLog
import Watching
import Running
import Store
import Archive
import Results
import Logging

/// Writes a one-screen summary of each run to `refs/notes/pipectl` of the watched repository.
struct NoteListener: RunListener {
    let log: Logger
    let name = "notes"

    func wants(_ event: DaemonEvent) -> Bool {
        guard case .recorded(let run) = event else { return false }
        // The run of a fixer, or of a task, says nothing about the change, and pipectl never writes to a clone.
        return !run.request.isAside && run.repository.clone == nil
    }

    func receive(_ event: DaemonEvent) async {
        guard case .recorded(let run) = event else { return }
        do {
            _ = try await run.report.mirror(into: run.repository.gitDirectory)
        } catch {
            log.warning(
                "the summary of run \(run.report.id) could not be written to refs/notes/pipectl: \(error)",
                metadata: .code(.noteFailed, run: run.report.id))
        }
    }

    func missed(_ count: Int) async {
        log.warning(
            "the summaries of \(count) runs are not written to refs/notes/pipectl: runs end faster than Git writes",
            metadata: .code(.eventsMissed))
    }
}
