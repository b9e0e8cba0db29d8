import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether this process was told to end.
///
/// Where systemd ends a scope, or a service without `KillMode=mixed`, it sends SIGTERM to all processes at once: to steps as
/// well, which then end by it although nothing is wrong with them. Their runs must not fail by that. This process ends
/// without a verdict instead, as after kill -9, and its next start begins those runs again.
public final class ShutdownNotice: Sendable {
    private let isTold = Mutex(false)
    private let leave: @Sendable () -> Void
    /// How much later than a step this process may hear of it: on a machine that shuts down everything takes long.
    private let patience: Duration

    /// - Parameter leave: Ends this process.
    public init(patience: Duration = .seconds(3), leave: @escaping @Sendable () -> Void) {
        self.leave = leave
        self.patience = patience
    }

    /// To be called at SIGTERM.
    public func tell() { isTold.withLock { $0 = true } }

    /// Ends this process where what happened to a step came of what this process was told, too; else returns.
    func leaveIfTold(after end: Result<ProcessEnd, any Error>) async {
        guard ShutdownNotice.mayBeOfShutdown(end) else { return }
        let limit = ContinuousClock.now + patience
        while true {
            if isTold.withLock({ $0 }) { return leave() }
            guard ContinuousClock.now < limit, (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    /// Whether a step ended by a SIGTERM that nobody here asked for, or what watches over steps did.
    static func mayBeOfShutdown(_ end: Result<ProcessEnd, any Error>) -> Bool {
        switch end {
        case .success(let end): end.stopped == nil && (end.signal == SIGTERM || end.exitCode == 128 + SIGTERM)
        case .failure(StepProcessProblem.lost): true
        case .failure(let problem): problem is StepHostProblem
        }
    }
}
