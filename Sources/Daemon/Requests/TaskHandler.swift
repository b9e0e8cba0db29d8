import Control
import Results
import TaskService

/// Answers the requests about tasks.
struct TaskHandler: Sendable {
    let tasks: TaskRequests

    /// The reply to such a request; nil for other requests, and for one that has many replies.
    func reply(to request: DaemonRequest, by caller: Caller) async throws -> DaemonReply? {
        guard case .task(let command) = request else { return nil }
        return try await reply(to: command, by: TaskActor(caller.name)).map { .task($0) }
    }

    private func reply(to command: TaskCommand, by actor: TaskActor) async throws -> TaskReply? {
        switch command {
        case .add(let draft, let isForAgent):
            let added = try await tasks.add(draft, by: TaskActor(actor.name, isAgent: isForAgent))
            return .added(added.task, isNew: added.isNew)
        case .approve(let id, let version, let reason):
            return .task(try await tasks.approve(id, version: version, reason: reason, by: actor))
        case .remark(let id, let text): return .task(try await tasks.remark(id, text, by: actor))
        case .refuse(let id, let reason): return .task(try await tasks.refuse(id, reason: reason, by: actor))
        case .cancel(let id, let reason): return .task(try await tasks.cancel(id, reason: reason, by: actor))
        case .land(let id, let commit): return .task(try await tasks.land(id, commit: commit, by: actor))
        case .show(let id): return .task(try await tasks.show(id, by: actor))
        case .difference(let id, let attempt):
            return .difference(try await tasks.difference(id, attempt: attempt, by: actor))
        case .list(let filter): return .list(try await tasks.list(filter, by: actor))
        case .follow: return nil
        }
    }
}
