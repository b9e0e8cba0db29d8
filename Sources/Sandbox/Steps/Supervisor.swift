import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The client's end of a supervisor: a process of ``StepHost`` that runs attempts, one at a time.
struct Supervisor: Sendable {
    /// The number by which ``StepHost/kill(_:)`` names it.
    let id: UInt32
    let socket: Int32
    /// The `stepinit` that it belongs to.
    let host: pid_t

    /// Passes an attempt to it; false if it is gone, or takes nothing for half a minute.
    func take(_ launch: [UInt8], _ files: [Int32]) -> Bool {
        var done = DescriptorMessage.sendSome(launch[...], files: files, over: socket)
        guard done > 0 else { return false }
        return launch.withUnsafeBytes { buffer in
            while done < buffer.count {
                let count = send(socket, buffer.baseAddress.map { $0 + done }, buffer.count - done, noSignal)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    func close() { closeFile(socket) }
}

/// What is sent to the supervisor of an attempt when the attempt is stopped, from whatever thread.
final class SupervisorControl: Sendable {
    private struct State {
        var socket: Int32
        var askedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    init(socket: Int32) { state = Mutex(State(socket: socket)) }

    var askedAt: ContinuousClock.Instant? { state.withLock { $0.askedAt } }

    /// Asks the supervisor, once, to end the attempt.
    func askToEnd() {
        state.withLock { state in
            guard state.socket >= 0, state.askedAt == nil else { return }
            state.askedAt = ContinuousClock().now
            _ = [UInt8(ascii: "T")].withUnsafeBytes { send(state.socket, $0.baseAddress, 1, noSignal) }
        }
    }

    /// Gives the socket up: nothing is sent from here on.
    ///
    /// - Returns: Whether nothing was sent before.
    func finish() -> Bool {
        state.withLock { state in
            state.socket = -1
            return state.askedAt == nil
        }
    }
}
