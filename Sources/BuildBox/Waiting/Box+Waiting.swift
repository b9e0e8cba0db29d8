import Archive
import Engine
import Foundation

extension Box {
    /// Sends each state of the wait until it has ended.
    func wait(_ request: WaitRequest, _ reply: @Sendable (BoxReply) async throws -> Void) async throws {
        var wait = VerdictWait(
            request, index: index, board: board, watchers: watchers, obstacle: { await self.obstacle() })
        try await wait.run { try await reply(.waiting($0)) }
    }

    /// The report of a run that goes on: what its steps that have ended say; nil when it is not (or no longer) going.
    func earlyReport(of id: RunID) async throws -> EarlyReport? {
        guard let live = await board.run(id), let run = try await index.run(id) else { return nil }
        let failures = await board.failures(of: id)
        var report = Report(
            starting: QueuedRun(
                id: id, request: run.request, createdAt: run.summary.createdAt, attempt: run.summary.attempt),
            at: live.startedAt)
        report.steps = live.steps.map(\.record)
        report.findings += failures.findings
        report.trust = run.summary.trust
        let failed = live.steps.filter { $0.record.status.isFailure && !$0.record.allowsFailure }
        let open = live.steps.count { !$0.record.status.isFinal }
        if live.isParked, let gate = live.steps.first(where: \.awaitsApproval) {
            report.verdict = .needsApproval
            report.reason = "step \"\(gate.id)\" \(gate.waitsFor ?? "waits for approval")"
        } else if let first = failed.first {
            report.verdict = failed.allSatisfy { $0.record.status == .infrastructure } ? .infrastructure : .failed
            let why = first.record.reason.map { ": \($0)" } ?? ""
            report.reason = "step \"\(first.id)\" failed\(why); \(open) of \(live.steps.count) steps have not ended"
        } else {
            report.reason = "it goes on: \(open) of \(live.steps.count) steps have not ended"
        }
        report.testCounts = live.steps.compactMap(\.record.testCounts).reduce(into: TestCounts()) { sum, counts in
            sum.passed += counts.passed
            sum.failed += counts.failed
            sum.skipped += counts.skipped
            sum.expectedFailures += counts.expectedFailures
        }
        report.endedAt = Date()
        var logs: [String: Data] = [:]
        for attempt in failed.flatMap(\.record.attempts) {
            guard let name = attempt.log?.file else { continue }
            let path = "\(live.logs)/\(name)"
            logs[name] = try await offThread { EarlyReport.tail(of: path) }
        }
        return EarlyReport(report: report, tests: failures.tests, logs: logs)
    }
}
