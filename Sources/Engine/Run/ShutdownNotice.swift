public import Sandbox
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tells whether this process was told to end.
///
/// systemd stops a service without `KillMode=mixed` by a SIGTERM to all its processes. Steps end by that signal
/// although nothing is wrong with them, so their runs must not fail. Instead, this process ends without a verdict, as
/// after kill -9, and its next start begins those runs again. In a scope that this process asked for, only this process
/// is stopped: see ``scopeSignal``.
public final class ShutdownNotice: Sendable {
    private let isTold = Mutex(false)
    private let leave: @Sendable () -> Void
    /// How much later than a step this process may get the signal: on a machine that shuts down, everything is slow.
    private let patience: Duration

    /// - Parameter leave: Ends this process.
    public init(patience: Duration = .seconds(3), leave: @escaping @Sendable () -> Void) {
        self.leave = leave
        self.patience = patience
    }

    /// The signal that systemd sends to all processes of this process's scope when it stops the scope.
    ///
    /// A scope has no `KillMode=mixed`: every process in it gets the signal, steps too. Processes ignore SIGURG unless
    /// they wait for it (signal(7)), so steps continue, and this process reacts to it through ``heedScope()``.
    public static let scopeSignal = SIGURG

    /// From now on, ``scopeSignal`` is delivered to this process as SIGUSR2, which event loops can wait for.
    ///
    /// SIGTERM would not do: at a shutdown su(1) sends one as well, and two of them would cancel the runs.
    public static func heedScope() {
        // Both calls are safe in a signal's handler (signal-safety(7)).
        signal(scopeSignal) { _ in kill(getpid(), SIGUSR2) }
    }

    /// Call this when SIGTERM arrives.
    public func tell() { isTold.withLock { $0 = true } }

    /// Ends this process if the shutdown that it was told of ended the step; otherwise returns.
    func leaveIfTold(after end: Result<ProcessEnd, any Error>) async {
        guard ShutdownNotice.mayBeOfShutdown(end) else { return }
        await leaveIfTold()
    }

    /// Does the same for a compiler or a workflow program: if a SIGTERM ended it, that says nothing about the
    /// workflows.
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

    /// Whether a SIGTERM ended the program, or a part of the compiler, which then reports it.
    static func mayBeOfShutdown(_ result: ExternalCommandResult) -> Bool {
        switch result.ending {
        case .signal(let signal): signal == SIGTERM
        case .exited(128 + SIGTERM): true
        case .exited(let code): code != 0 && result.text.contains("due to signal \(SIGTERM)")
        case .deadline: false
        }
    }

    /// Whether a SIGTERM that pipectl did not send ended a step or its supervisor.
    static func mayBeOfShutdown(_ end: Result<ProcessEnd, any Error>) -> Bool {
        switch end {
        case .success(let end): end.stopped == nil && (end.signal == SIGTERM || end.exitCode == 128 + SIGTERM)
        case .failure(StepProcessProblem.lost): true
        case .failure(let problem): problem is StepHostProblem
        }
    }
}
