public import Preparing
public import StateFiles
public import Control
public import Logging

import Foundation

/// A command's way to the daemon: the one that runs, over its socket, or one opened in this process.
public enum DaemonAccess: Sendable {
    case daemon(DaemonClient<DaemonRequest, DaemonReply>)
    case own(Daemon)

    /// The running daemon if there is one, else a daemon of our own that holds the state for as long as it lives.
    ///
    /// - Parameter options: Asked for only where no daemon runs: what is wrong with the settings here is no concern of a
    ///   daemon that has its own.
    public static func open(
        _ state: StateFolder, purpose: String, options: @autoclosure () throws -> BoxOptions, log: Logger
    ) async throws -> DaemonAccess {
        do {
            return .daemon(try await DaemonClient.connect(path: state.socket))
        } catch let error where error.code == .notRunning {
            return .own(try await Daemon(state: state, purpose: purpose, options: options(), log: log))
        }
    }

    /// Sends a request and hands over each reply; a refusal is thrown as ``RequestError``.
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

    /// Gives the state back, if it is ours.
    public func close() async {
        if case .own(let daemon) = self { await daemon.close() }
    }
}
