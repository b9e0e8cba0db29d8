import Control
import Foundation
package import Forges
import Pipeline
import Results
import Store
import TerminalText

/// What people ask of tasks at a forge.
package struct TaskForge: Sendable {
    /// A plan must have been there for so long before it is approved without its version, in seconds: nobody can have read
    /// what was made a moment before the comment.
    static let readingTime = 5.0

    let requests: TaskRequests
    let sources: TaskSources

    package init(requests: TaskRequests, sources: TaskSources) {
        (self.requests, self.sources) = (requests, sources)
    }

    // MARK: What is heard

    /// What tasks want to hear of forges.
    package func hearing() -> ForgeTasks {
        ForgeTasks(
            interest: { try await interest(in: $0) },
            begin: { issue, who, repository in try await begin(issue, by: who, in: repository) },
            remark: { try await take($0) })
    }

    private func interest(in repository: String) async throws -> ForgeTasks.Interest {
        guard let rules = await sources.rules(of: repository) else { return ForgeTasks.Interest() }
        let labels = rules.sources.compactMap { if case .issueLabel(let label) = $0 { label } else { nil } }
        let open = try await requests.index.tasks(TaskFilter(repository: repository, limit: 1_000))
        return ForgeTasks.Interest(
            isDeclared: true, labels: Set(labels),
            changes: Set(open.filter { !$0.state.isEnded }.compactMap { $0.change.flatMap { Int($0) } }))
    }

    /// Makes a task of an issue, with its words as they are now.
    private func begin(_ issue: ForgeIssue, by who: String, in repository: String) async throws -> ForgeOutcome {
        let draft = TaskDraft(issue, adding: TaskDraft(repository: repository, text: ""), by: who)
        do {
            let (task, isNew) = try await requests.add(draft, by: TaskActor(who))
            return ForgeOutcome(
                isObeyed: true,
                text: isNew ? "task \(task.id) begins" : "task \(task.id) is about this issue: \(task.state.title)")
        } catch let failure as TaskFailure {
            return ForgeOutcome(isObeyed: false, text: failure.requestError.description)
        }
    }

    private func take(_ remark: ForgeTasks.Remark) async throws {
        guard let task = try await requests.index.task(withChange: "\(remark.change)", repository: remark.repository)
        else { return }
        do {
            try await say(remark.text, to: task.id, by: remark.by, since: nil)
        } catch is TaskFailure {
            // The task has ended, or lands: nobody works on it any more.
        }
    }

    // MARK: Commands

    /// Carries out an order about a task.
    ///
    /// - Returns: What became of it, in one sentence; nil: it is about no task.
    /// - Throws: `RequestError`, and what is wrong with this machine.
    package func obey(_ order: ForgeOrder) async throws -> String? {
        guard let id = try await task(of: order) else { return nil }
        let view = try await requests.show(id)
        let actor = TaskActor(order.by)
        do {
            switch order.command {
            case .approvePlan(let version): return try await approve(view, version, order)
            case .approve(nil) where order.issue != nil: return try await approve(view, nil, order)
            case .approve where order.issue != nil:
                throw RequestError(.usage, "an issue has no commit; write approve plan")
            case .remark(let text):
                try await say(text, to: id, by: order.by, since: order.writtenAt)
                return "task \(id) has the remark"
            case .refuse(let reason):
                if view.task.state == .refused { return "task \(id) is refused" }
                return "task \(id) is \(try await requests.refuse(id, reason: reason, by: actor).task.state.title)"
            case .cancel where order.issue != nil:
                if view.task.state == .cancelled { return "task \(id) is cancelled" }
                return "task \(id) is \(try await requests.cancel(id, reason: nil, by: actor).task.state.title)"
            case .land where order.issue != nil || view.task.state == .ready:
                if view.task.state == .landing { return "task \(id) is in the merge queue" }
                _ = try await requests.land(id, by: actor)
                return "the change of task \(id) goes into the merge queue"
            case .rerun, .fix:
                guard order.issue == nil else {
                    throw RequestError(.usage, "an issue has no runs; write that at the change of task \(id)")
                }
                return nil
            case .approve, .cancel, .land, .task: return nil
            }
        } catch let failure as TaskFailure {
            throw failure.requestError
        }
    }

    private func task(of order: ForgeOrder) async throws -> TaskID? {
        let index = requests.index
        if let issue = order.issue {
            let found = try await index.task(withKey: TaskDraft.key(ofIssue: issue), repository: order.repository)
            if let found { return found.id }
            throw RequestError(.unknownTask, "no task is about this issue; write task to make one")
        }
        guard let change = order.change else { return nil }
        if let found = try await index.task(withChange: "\(change)", repository: order.repository) { return found.id }
        switch order.command {
        case .approvePlan, .remark, .refuse:
            throw RequestError(.unknownTask, "this change is of no task")
        default: return nil
        }
    }

    private func approve(_ view: TaskView, _ version: Int?, _ order: ForgeOrder) async throws -> String {
        let id = view.task.id
        guard let plan = view.plan else { throw TaskFailure.otherPlan(id, version: nil) }
        let wanted = version ?? plan.version
        // A daemon that died before it noted the order carries it out again.
        let isApproved = view.events.contains { event in
            if case .planApproved(wanted, _) = event.what { event.by == order.by } else { false }
        }
        if isApproved { return "plan \(wanted) of task \(id) is approved" }
        if version == nil, let writtenAt = order.writtenAt, let made = view.events.last(where: { $0.isPlan })?.at,
            made.addingTimeInterval(Self.readingTime) > writtenAt
        {
            throw RequestError(
                .usage,
                "plan \(plan.version) was made a moment before the comment; look at it, then write approve plan "
                    + "\(plan.version)")
        }
        _ = try await requests.approve(id, version: wanted, by: TaskActor(order.by))
        return "plan \(wanted) of task \(id) is approved"
    }

    /// - Parameter date: When it was written: the same words of the same person since then are this remark.
    private func say(_ text: String, to id: TaskID, by who: String, since date: Date?) async throws {
        if let date {
            let isSaid = try await requests.index.taskEvents(of: id).contains { event in
                event.what == .remark(text: text) && event.by == who && event.at >= date
            }
            if isSaid { return }
        }
        _ = try await requests.remark(id, text, by: TaskActor(who))
    }
}

extension TaskEvent {
    fileprivate var isPlan: Bool { if case .planned = what { true } else { false } }
}
