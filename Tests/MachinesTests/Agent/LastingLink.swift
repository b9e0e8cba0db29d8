import Concurrency
import Foundation
import Sandbox
import Synchronization
import SystemCalls
import TestBasics

@testable import Machines

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Starts a lasting agent as a child of the test, and carries each connection by a process of its own.
struct LastingLink: AgentLink {
    let room = "/tmp/pipectl-agent-\(UInt64.random(in: .min ... .max))"
    let folder: String
    var patience = 600.0
    private let processes = Processes()

    init(folder: String) { self.folder = folder }

    final class Processes: Sendable {
        private let state = Mutex((agent: PipedProcess?.none, socket: Descriptor?.none, relays: [PipedProcess]()))
        var agent: PipedProcess? { state.withLock { $0.agent } }
        var relays: [PipedProcess] { state.withLock { $0.relays } }
        func took(_ agent: PipedProcess, _ socket: Int32) {
            state.withLock { ($0.agent, $0.socket) = (agent, Descriptor(socket)) }
        }
        func took(relay: PipedProcess) { state.withLock { $0.relays.append(relay) } }
    }

    var agent: PipedProcess? { processes.agent }

    /// Ends the newest connection as kill -9 of its carrier does.
    func drop() { if let relay = processes.relays.last { kill(relay.id, SIGKILL) } }

    func start() async throws -> AgentStream {
        guard mkdir(room, 0o700) == 0 else { throw SystemFailure("mkdir") }
        let (agent, socket) = try PipedProcess.start(
            [Products.path("pipectl-agent"), "--folder", folder, "--listen", room, "--patience", "\(patience)"],
            environment: ProcessInfo.processInfo.environment)
        processes.took(agent, socket)
        return try stream()
    }

    func resume(_ trace: String) async throws -> AgentStream { try stream() }

    func end(_ trace: String) async { try? await reap(within: .zero) }

    /// Waits for the end of the agent, which is killed after the limit.
    func reap(within limit: Duration) async throws {
        guard let agent else { return }
        _ = try await onOwnThread { agent.end(grace: limit) }
    }

    private func stream() throws -> AgentStream {
        let (relay, socket) = try PipedProcess.start(
            [Products.path("pipectl-agent"), "--connect", room], environment: ProcessInfo.processInfo.environment)
        processes.took(relay: relay)
        var stream = AgentStream(relay, socket: socket) { ending, _ in ending.isOwn ? ending.sentence : nil }
        stream.trace = room
        return stream
    }
}
