import Landing
import Watching
import Running
import Control
import Results
import Store
import TaskService

/// Answers the requests of commands, in this process and over the socket.
struct RequestHandler: Sendable {
    let commands: CommandHandler
    let queries: QueryHandler
    let landings: LandingHandler
    let access: AccessRequests
    let releases: ReleaseHandler
    let tasks: TaskHandler
    let health: Health

    /// - Parameter user: The user of this process, or the user at the other end of the socket according to the kernel.
    func answer(
        _ request: DaemonRequest, by user: UInt32, reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws {
        try await answer(request, for: Caller(user: user), reply: reply)
    }

    /// - Parameter caller: Never what a client says of itself.
    func answer(
        _ request: DaemonRequest, for caller: Caller, reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws {
        health.noteActivity()
        do {
            if let answer = try await queries.reply(to: request) { return try await reply(answer) }
            if let answer = try await commands.reply(to: request, by: caller) { return try await reply(answer) }
            if let answer = try await landings.reply(to: request, by: caller.name) { return try await reply(answer) }
            if let answer = try await releases.reply(to: request, by: caller) { return try await reply(answer) }
            if let answer = try await tasks.reply(to: request, by: caller) { return try await reply(answer) }
            if let answer = try await access.reply(to: request, by: caller) { return try await reply(answer) }
            try await follow(request, caller, reply)
        } catch {
            guard let refusal = RequestError(refusing: error) else { throw error }
            try await reply(.refused(refusal))
        }
    }

    /// Handles requests with many replies.
    private func follow(
        _ request: DaemonRequest, _ caller: Caller, _ reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws {
        switch request {
        case .follow(let id): try await queries.runs.follow(id, reply)
        case .wait(let wanted):
            var wait = VerdictWait(
                wanted, index: queries.index, board: queries.runs.board,
                watchers: queries.repositories.watchers.byName, obstacle: queries.status.obstacle)
            let links = queries.runs.links
            try await wait.run { try await reply(.waiting(links.named($0))) }
        case .bisect(let wanted):
            try await withoutActuallyEscaping(reply) { reply in
                _ = try await commands.bisect.bisect(wanted) { try await reply(.bisect($0)) }
            }
        case .fix(let run):
            try await withoutActuallyEscaping(reply) { reply in
                try await commands.fixes.fix(run) { try await reply(.fix($0)) }
            }
        case .task(.follow(let id)):
            try await tasks.tasks.follow(id, by: TaskActor(caller.name)) { try await reply(.task(.task($0))) }
        default: throw RequestError(.usage, "this daemon does not know the request")
        }
    }
}
