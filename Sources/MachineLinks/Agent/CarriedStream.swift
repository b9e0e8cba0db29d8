import Concurrency
import Machines
import Sandbox
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The stream of an agent whose bytes a client of this machine carries.
struct CarriedStream: Sendable {
    /// The client could not be started.
    static func start(
        _ words: [String], environment: [String: String], of machine: String,
        ended: @escaping @Sendable (PipedProcess.Ending) async -> String?
    ) throws -> AgentStream {
        let process: PipedProcess
        let socket: Descriptor
        do {
            let started = try PipedProcess.start(words, environment: environment)
            (process, socket) = (started.process, Descriptor(started.socket))
        } catch {
            throw ReachProblem(
                .missingProgram,
                "\(words[0]), which reaches \(machine), can't be started: \(error). Is it installed and in PATH?")
        }
        return AgentStream(output: socket, input: socket) {
            // The other end is closed if the client has ended. Asked before ours is closed, which ends the client.
            let isOver = socket.use { isClosed($0) }
            socket.use { _ = shutdown($0, Int32(SHUT_RDWR)) }
            var ending = try? await onOwnThread { process.end(grace: .seconds(20)) }
            ending?.isOwn = isOver
            guard let ending else { return nil }
            return await ended(ending)
        }
    }

    /// Whether the other end is gone.
    private static func isClosed(_ socket: Int32) -> Bool {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP) != 0
    }
}
