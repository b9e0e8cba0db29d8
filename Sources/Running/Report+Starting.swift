package import Results
package import Foundation
import Pipeline

extension Report {
    /// The report of a run that starts, with everything that is known before it is prepared.
    package init(starting run: QueuedRun, at start: Date) {
        let request = run.request
        self.init(
            id: run.id, repository: request.repository, workflow: request.workflow, event: request.event,
            ref: request.ref, branch: request.branch, head: request.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: .infrastructure,
            reason: "not finished", createdAt: run.createdAt, startedAt: start, endedAt: start, attempt: run.attempt,
            rerunOf: request.rerun?.of, reproduce: request.reproduction, box: .current)
        repetition = request.rerun.map { Repetition(origin: $0.origin, number: $0.number) }
        fix = request.fix.map(FixRecord.init)
        task = request.task.map(TaskOutcome.init)
        askedBy = request.options.askedBy
        if run.attempt > 1 {
            findings.append(
                Finding(
                    rule: "interrupted", severity: .note,
                    message:
                        "the daemon ended during attempt \(run.attempt - 1); this is attempt \(run.attempt), in a fresh workspace",
                    file: nil, line: nil, column: nil, suggestion: nil))
        }
    }
}
