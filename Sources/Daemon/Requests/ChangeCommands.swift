import Control
import Foundation
import Forges
import Results
import Store

/// Carries out what people who may write ask for at a forge: in comments, and with buttons of checks.
struct ChangeCommands: Sendable {
    /// A run must have been there for so long before it is approved without naming the commit, in seconds: nobody can have
    /// read what was pushed a moment before the comment.
    static let readingTime = 5.0

    let index: Store.Index
    let runs: ManualRuns
    let approvals: ApprovalService
    let fixes: FixRequests
    let land: LandingCommand
    /// Carries out an order about a task; nil: it is about none.
    var task: @Sendable (ForgeOrder) async throws -> String? = { _ in nil }

    /// Puts a change in line to be landed, and says so in one sentence; throws ``RequestError`` where it can't.
    typealias LandingCommand =
        @Sendable (_ change: String, _ head: String, _ repository: String, _ by: String) async throws -> String

    /// Carries out an order once, however often it is given.
    ///
    /// - Throws: What is wrong with this machine or its state: then the order may be given again.
    func obey(_ order: ForgeOrder) async throws -> ForgeOutcome {
        do {
            return ForgeOutcome(isObeyed: true, text: try await carryOut(order))
        } catch {
            guard let refusal = RequestError(refusing: error), refusal.origin == .request else { throw error }
            return ForgeOutcome(isObeyed: false, text: refusal.description)
        }
    }

    private func carryOut(_ order: ForgeOrder) async throws -> String {
        if let answer = try await task(order) { return answer }
        let subject = try await subject(of: order)
        switch order.command {
        case .rerun(let failedOnly): return try await rerun(subject, failedOnly: failedOnly, order)
        case .approve(let head): return try await approve(subject, head: head, order)
        case .cancel: return try await cancel(subject, order)
        case .fix: return try await fix(subject)
        case .land:
            guard let change = subject.change else { throw RequestError(.usage, "only a change can be landed") }
            try check(subject.runs, areReadBefore: order, at: subject.head)
            return try await land(change, subject.head, order.repository, order.by)
        case .task, .approvePlan, .remark, .refuse:
            throw RequestError(.unknownTask, "this is about no task; write it where one is")
        }
    }

    /// What an order is about.
    private struct Subject {
        /// The name of the change; nil for a commit of a branch.
        var change: String?
        var head: String
        /// The newest run of each workflow at ``head``, by name; of a button of one check, only its run.
        var runs: [RunSummary]
    }

    private func subject(of order: ForgeOrder) async throws -> Subject {
        if let number = order.change {
            guard let change = try await index.change("\(number)", of: order.repository) else {
                throw RequestError(.unknownChange, "change \(number) is not known here yet; try again in a minute")
            }
            return Subject(
                change: change.name, head: change.head,
                runs: try await newest(at: change.head, of: change.name, in: order.repository))
        }
        guard let head = order.head else { throw RequestError(.usage, "the order names no commit") }
        guard let id = order.run else {
            let runs = try await newest(at: head, of: nil, in: order.repository)
            return Subject(change: runs.first?.change, head: head, runs: runs)
        }
        guard let run = try await index.run(id)?.summary, run.repository == order.repository, run.head == head else {
            throw RequestError(.unknownRun, "run \(id) is not a run of commit \(head.prefix(10))")
        }
        return Subject(change: run.change, head: head, runs: [run])
    }

    private func newest(at head: String, of change: String?, in repository: String) async throws -> [RunSummary] {
        var filter = RunFilter(repository: repository, change: change, commitPrefix: head, limit: 500)
        filter.hidesUpkeep = true
        var newest: [String: RunSummary] = [:]
        for run in try await index.runs(filter)
        where run.head == head && run.upkeep == nil && run.fix == nil && run.task == nil {
            if run.id > newest[run.workflow]?.id ?? 0 { newest[run.workflow] = run }
        }
        return newest.values.sorted { $0.workflow < $1.workflow }
    }

    // MARK: Commands

    private func rerun(_ subject: Subject, failedOnly: Bool, _ order: ForgeOrder) async throws -> String {
        // A daemon that died after it started them, and before that was noted, carries the order out again.
        let before = try await index.reruns(for: order.key, in: order.repository)
        guard before.isEmpty else {
            return before.map { "run \($0.id) repeats \($0.workflow)" }.joined(separator: ", ")
        }
        let ended = subject.runs.filter { $0.state == .ended && $0.heldFor == nil }
        let wanted = failedOnly ? ended.filter { $0.verdict != .passed && $0.verdict != .notApplicable } : ended
        guard !wanted.isEmpty else {
            let commit = "commit \(subject.head.prefix(10))"
            if subject.runs.isEmpty { throw RequestError(.usage, "no run of \(commit) is known") }
            if ended.isEmpty { throw RequestError(.usage, "no run of \(commit) has ended yet") }
            throw RequestError(.usage, "nothing failed at \(commit)")
        }
        var started: [String] = []
        for run in wanted {
            var request = RerunRequest(run: run.id)
            // Of a run that broke before its steps, or was cancelled, nothing is retained that could go on.
            request.failedOnly = failedOnly && run.stepCounts.failed > 0
            let accepted = try await runs.rerun(request, key: order.key)
            started.append("run \(accepted.run.id) repeats \(run.workflow)")
        }
        return started.joined(separator: ", ")
    }

    private func approve(_ subject: Subject, head: String?, _ order: ForgeOrder) async throws -> String {
        if let head, !subject.head.hasPrefix(head) {
            throw RequestError(.usage, "the change is at commit \(subject.head.prefix(10)) now; look at that one")
        }
        // A button stands at the commit that it is about; a comment does not say what its writer has seen.
        let isNamed = head != nil || order.head != nil
        let held = subject.runs.filter { $0.heldFor != nil }
        if let change = subject.change, let record = try await index.change(change, of: order.repository),
            record.head != subject.head
        {
            throw RequestError(.usage, "the change is at commit \(record.head.prefix(10)) now; look at that one")
        }
        guard !held.isEmpty else { throw RequestError(.usage, "no run of this change waits for approval") }
        if !isNamed { try check(held, areReadBefore: order, at: subject.head) }
        var approved: [String] = []
        for run in held {
            // Steps are approved one by one, where their questions are read.
            guard run.state != .running else { continue }
            _ = try await approvals.approve(ApproveRequest(run: run.id), by: order.by)
            approved.append("run \(run.id) of \(run.workflow)")
        }
        guard !approved.isEmpty else {
            throw RequestError(
                .usage, "only steps of this change wait for approval; `pipectl status` on the build machine lists them")
        }
        return "approved: \(approved.joined(separator: ", "))"
    }

    /// - Throws: ``RequestError`` where the commit of `runs` came so shortly before a comment that nobody can have read it.
    private func check(_ runs: [RunSummary], areReadBefore order: ForgeOrder, at head: String) throws {
        guard let writtenAt = order.writtenAt,
            runs.contains(where: { $0.rerunOf == nil && $0.createdAt.addingTimeInterval(Self.readingTime) > writtenAt })
        else { return }
        throw RequestError(
            .usage,
            "commit \(head.prefix(10)) was pushed a moment before the comment; look at it, then ask again"
                + (order.command == .land ? "" : " with approve \(head.prefix(10))"))
    }

    private func cancel(_ subject: Subject, _ order: ForgeOrder) async throws -> String {
        var live = subject.runs
        if let change = subject.change {
            live = try await index.runs(
                RunFilter(repository: order.repository, change: change, states: [.queued, .running]))
        }
        live.removeAll { $0.state == .ended }
        guard !live.isEmpty else { throw RequestError(.usage, "no run of this change is waiting or running") }
        for run in live { _ = try await runs.cancel(run.id, reason: "cancelled by \(order.by)") }
        return "cancelled: \(live.map { "run \($0.id) of \($0.workflow)" }.joined(separator: ", "))"
    }

    private func fix(_ subject: Subject) async throws -> String {
        let failed = subject.runs.filter { $0.verdict == .failed }
        guard let run = failed.max(by: { $0.id < $1.id }) else {
            throw RequestError(.usage, "no run of commit \(subject.head.prefix(10)) failed")
        }
        let attempt = try await fixes.begin(run.id).attempt
        return "attempt \(attempt) at fixing run \(run.id) of \(run.workflow) begins"
    }
}
