import DaemonLog
import Running
import Engine
import Results
import Store
import Logging
import Pipeline

/// Marks a change that could not be tested, so that the next move of its target tests it again.
struct ChangeStateListener: RunListener {
    let index: Store.Index
    let log: Logger
    let name = "change states"
    let capacity = 1_000

    func wants(_ event: DaemonEvent) -> Bool {
        guard case .recorded(let run) = event, !run.request.isAside, run.report.change != nil else { return false }
        return [.conflict, .definitionError].contains(run.report.verdict)
    }

    func receive(_ event: DaemonEvent) async {
        guard case .recorded(let run) = event, let change = run.report.change else { return }
        do {
            guard var record = try await index.change(change.name, of: run.report.repository), record.state == .open,
                record.head == change.head, record.targetCommit == change.targetCommit
            else { return }
            record.state = run.report.verdict == .conflict ? .conflict : .stale
            if run.report.verdict == .definitionError { record.targetCommit = nil }
            try await index.setChange(record, of: run.report.repository)
        } catch {
            log.warning(
                "the state of change \(change.name) could not be stored: \(error)",
                metadata: .code(.changeStateFailed, run: run.report.id, repository: run.report.repository))
        }
    }

    func missed(_ count: Int) async {
        log.warning(
            "\(count) changes that could not be tested are not tested again when their target moves",
            metadata: .code(.eventsMissed))
    }
}
