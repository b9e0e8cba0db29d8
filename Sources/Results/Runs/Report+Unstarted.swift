internal import Foundation

extension Report {
    /// The report of a run that ended without being executed: it was superseded or cancelled while queued, or
    /// interrupted.
    ///
    /// It is made from the store alone, so that every run is in the archive. Nil if the run has not ended.
    /// - Parameter findings: The steps that were about to start when the run was interrupted:
    ///   ``RecordedIntent/finding``.
    public init?(unstarted run: IndexedRun, findings: [Finding] = [], reproduce: String, box: Machine) {
        let (summary, request) = (run.summary, run.request)
        guard let verdict = summary.verdict, let endedAt = summary.endedAt else { return nil }
        self.init(
            id: summary.id, repository: summary.repository, workflow: summary.workflow, event: summary.event,
            ref: summary.ref, branch: summary.branch, head: summary.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: verdict,
            reason: summary.reason ?? verdict.title, createdAt: summary.createdAt, startedAt: summary.startedAt,
            endedAt: endedAt, attempt: max(1, summary.attempt), rerunOf: summary.rerunOf, findings: findings,
            reproduce: reproduce, trust: summary.trust, approvals: run.approvals.isEmpty ? nil : run.approvals,
            box: box)
        supersededBy = verdict == .superseded ? summary.supersededBy : nil
        fix = request.fix.map(FixRecord.init)
        task = request.task.map(TaskOutcome.init)
        askedBy = request.options.askedBy
    }
}
