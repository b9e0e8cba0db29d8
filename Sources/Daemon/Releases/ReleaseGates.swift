import Results
import Store

/// Finds out whether releases wait for a person, or were rejected.
struct ReleaseGates: Sendable {
    let index: Store.Index

    /// The release with its gate.
    func marked(_ release: ReleaseRecord) async throws -> ReleaseRecord {
        guard [.draft, .sealed].contains(release.state) else { return release }
        var release = release
        release.gate = try await gate(of: release)
        return release
    }

    /// What the newest run says that would publish the release.
    private func gate(of release: ReleaseRecord) async throws -> ReleaseGate? {
        let filter = RunFilter(
            repository: release.repository, workflow: release.workflow, commitPrefix: release.commit, limit: 20)
        let steps = release.gates.map { Set($0.joined()) }
        if steps?.isEmpty == true { return nil }
        for run in try await index.runs(filter) where run.id >= release.run {
            // Of a release that was made before they were noted, whatever was asked since counts.
            let asked = try await index.approvals(of: run.id).filter { approval in
                approval.step.map { steps?.contains($0) ?? (approval.askedAt >= release.madeAt) } ?? false
            }
            let isOver = run.state == .ended
            if let approval = asked.first(where: { $0.decision == .rejected || $0.decision == nil && !isOver }) {
                return ReleaseGate(run.id, approval)
            }
            // The newest run that has asked decides. One that ended before says nothing.
            if !isOver || !asked.isEmpty { return nil }
        }
        return nil
    }
}

extension ReleaseGate {
    /// - Parameter approval: Of a step. Without a decision it waits.
    fileprivate init(_ run: RunID, _ approval: Approval) {
        let step = approval.step ?? ""
        let isRejected = approval.decision != nil
        let words =
            isRejected ? "was \(approval.inWords)" : "waits for approval: \(Approval.command(run, step: step))"
        self.init(run: run, step: step, isRejected: isRejected, inWords: "run \(run): step \"\(step)\" \(words)")
    }
}
