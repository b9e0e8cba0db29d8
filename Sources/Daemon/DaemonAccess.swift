public import Preparing
public import StateFiles
public import Control
public import Logging

import Foundation

/// A command's access to the daemon: the running one over its socket, or one opened in this process.
public enum DaemonAccess: Sendable {
    case daemon(DaemonClient<DaemonRequest, DaemonReply>)
    case own(Daemon)

    /// The running daemon if there is one, otherwise a daemon in this process, which owns the state for its lifetime.
    ///
    /// - Parameter options: Evaluated only if no daemon runs: a running one has its own settings, so errors in these
    ///   don't matter.
    public static func open(
        _ state: StateFolder, purpose: String, options: @autoclosure () throws -> DaemonOptions, log: Logger
    ) async throws -> DaemonAccess {
        do {
            return .daemon(try await DaemonClient.connect(path: state.socket))
        } catch let error where error.code == .notRunning {
            return .own(try await Daemon(state: state, purpose: purpose, options: options(), log: log))
        }
    }

    /// Sends a request and passes on each reply; throws a refusal as a ``RequestError``.
    public func ask(_ request: DaemonRequest, each: @Sendable (DaemonReply) async throws -> Void) async throws {
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
    public func close() async {
        if case .own(let daemon) = self { await daemon.close() }
    }
}
