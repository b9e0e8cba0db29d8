public import Sandbox
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether this process was told to end.
///
/// systemd stops a service without `KillMode=mixed` by a SIGTERM to all its processes. Steps end by that although nothing is
/// wrong with them, and their runs must not fail. This process ends without a verdict instead, as after kill -9, and its
/// next start begins those runs again. In a scope that this process asked for, only this process is stopped: see
/// ``scopeSignal``.
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

    /// What systemd sends to the processes of this process's scope when it stops the scope.
    ///
    /// A scope has no `KillMode=mixed`: every process in it gets the signal, steps too. Processes ignore SIGURG unless they
    /// wait for it (signal(7)), so steps go on, and this process hears of it by ``heedScope()``.
    public static let scopeSignal = SIGURG

    /// Has ``scopeSignal`` come as SIGUSR2 to this process from now on, which event loops can wait for.
    ///
    /// Not as SIGTERM: at a shutdown su(1) sends that one as well, and two of them would cancel the runs.
    public static func heedScope() {
        // Both calls are safe in a signal's handler (signal-safety(7)).
        signal(scopeSignal) { _ in kill(getpid(), SIGUSR2) }
    }

    /// To be called at SIGTERM.
    public func tell() { isTold.withLock { $0 = true } }

    /// Ends this process where what happened to a step came of what this process was told, too; else returns.
    func leaveIfTold(after end: Result<ProcessEnd, any Error>) async {
        guard ShutdownNotice.mayBeOfShutdown(end) else { return }
        await leaveIfTold()
    }

    /// The same for a compiler or a workflow program: what a SIGTERM ended says nothing about the workflows.
    public func leaveIfTold(after result: ExternalCommandResult) async {
        guard ShutdownNotice.mayBeOfShutdown(result) else { return }
        await leaveIfTold()
    }

    private func leaveIfTold() async {
        let limit = ContinuousClock.now + patience
        while true {
            if isTold.withLock({ $0 }) { return leave() }
            guard ContinuousClock.now < limit, (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    /// Whether a SIGTERM ended the program, or a part of the compiler, which then says so.
    static func mayBeOfShutdown(_ result: ExternalCommandResult) -> Bool {
        switch result.ending {
        case .signal(let signal): signal == SIGTERM
        case .exited(128 + SIGTERM): true
        case .exited(let code): code != 0 && result.text.contains("due to signal \(SIGTERM)")
        case .deadline: false
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
