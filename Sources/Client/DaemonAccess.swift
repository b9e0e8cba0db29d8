package import Control
import Foundation
package import Results
package import StateFiles

/// A daemon in this process, which owns the state until it is closed. It serves one command.
package protocol OwnDaemon: Sendable {
    /// Answers one request.
    ///
    /// - Parameter user: The user of this process.
    func answer(
        _ request: DaemonRequest, by user: UInt32, reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws
    /// Allows only these runs to start.
    func startOnly(_ runs: Set<RunID>) async
    /// Runs queued runs, and answers other commands, until it drains.
    func serve() async throws
    /// Starts no further runs; ``serve()`` returns when the live ones have ended.
    func drain() async
    /// The report of a named run that has ended here and is archived.
    func archivedReport(of run: RunID) async -> Report?
    /// Releases the state folder.
    func close() async
}

/// A command's access to the daemon: the running one over its socket, or one opened in this process.
package enum DaemonAccess: Sendable {
    case daemon(DaemonClient<DaemonRequest, DaemonReply>)
    case own(any OwnDaemon)

    /// The running daemon if there is one, otherwise a daemon in this process.
    ///
    /// - Parameter own: Opens the latter. It is called only if no daemon runs: a running one has its own settings, so
    ///   errors in these don't matter.
    package static func open(
        _ state: StateFolder, own: () async throws -> any OwnDaemon
    ) async throws -> DaemonAccess {
        do {
            return .daemon(try await DaemonClient.connect(path: state.socket))
        } catch let error where error.code == .notRunning {
            return .own(try await own())
        }
    }

    /// Sends a request and passes on each reply; throws a refusal as a ``RequestError``.
    package func ask(_ request: DaemonRequest, each: @Sendable (DaemonReply) async throws -> Void) async throws {
        @Sendable func take(_ reply: DaemonReply) async throws {
            if let refusal = reply.refusal { throw refusal }
            try await each(reply)
        }
        switch self {
        case .own(let daemon): try await daemon.answer(request, by: getuid(), reply: take)
        case .daemon(let client): for try await reply in try await client.send(request) { try await take(reply) }
        }
    }

    /// Releases the state, if this process owns it.
    package func close() async {
        if case .own(let daemon) = self { await daemon.close() }
    }
}
