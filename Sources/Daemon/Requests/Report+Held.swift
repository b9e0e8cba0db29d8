import Results

extension Report {
    /// The report of a run that waits for approval, until it is answered.
    init?(held run: IndexedRun) {
        guard let why = run.summary.heldFor, run.summary.state == .queued else { return nil }
        let request = run.request
        self.init(
            id: run.id, repository: request.repository, workflow: request.workflow, event: request.event,
            ref: request.ref, branch: request.branch, head: request.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: .needsApproval, reason: why,
            createdAt: run.summary.createdAt, startedAt: nil,
            endedAt: run.approvals.last { $0.step == nil }?.askedAt ?? run.summary.createdAt,
            attempt: max(1, run.summary.attempt), rerunOf: request.rerun?.of, reproduce: request.reproduction,
            trust: run.summary.trust, approvals: run.approvals, box: .current)
        askedBy = request.options.askedBy
    }
}
