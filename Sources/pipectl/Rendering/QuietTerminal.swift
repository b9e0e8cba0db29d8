import CoreFoundation
import Dispatch
import Foundation
import Synchronization
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The terminal while a live view draws on it: what is typed does not appear, because each line of it would shift the
/// view and leave a copy of its last row.
///
/// Typed keys stay for the shell that comes after. Ctrl-C and Ctrl-Z do what they always do. The settings from before
/// are back at the end of the view, at each `exit`, at signals that end or stop the process, and for as long as it is
/// stopped. The shell itself restores them after a crash.
enum QuietTerminal {
    /// Runs `body` with a quiet terminal, where there is one that is ours to set.
    ///
    /// - Parameter isLive: Whether there is a view that draws lines again. SIGINT and SIGTERM are the command's to handle: it
    ///   ends the view, or calls `exit`.
    static func during<Value>(_ isLive: Bool, _ body: () async throws -> Value) async rethrows -> Value {
        guard isLive, isOurs else { return try await body() }
        _ = atEnd
        TerminalSignals.handle()
        isWanted.withLock { $0 = true }
        silence()
        defer {
            isWanted.withLock { $0 = false }
            restore()
        }
        return try await body()
    }

    /// Standard error, on which live views draw.
    private static let descriptor: Int32 = 2
    /// The settings to go back to; nil while they are in force.
    private static let before = Mutex<termios?>(nil)
    /// Whether a view is drawn, also while the process is stopped.
    private static let isWanted = Mutex(false)
    /// For every way out by `exit`.
    private static let atEnd: Void = { _ = atexit { QuietTerminal.restore() } }()

    /// A pager behind a pipe sets the same terminal for itself: two would restore each other's settings.
    private static var isOurs: Bool {
        isatty(0) == 1 && isatty(descriptor) == 1 && !PipeEnd.isThere(1)
    }

    /// A process in the background that sets a terminal is stopped by it (SIGTTOU, termios(3)).
    private static var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    private static func silence() {
        before.withLock { before in
            var settings = termios()
            guard before == nil, isInForeground, tcgetattr(descriptor, &settings) == 0 else { return }
            before = settings
            settings.c_lflag &= ~(tcflag_t(ECHO) | tcflag_t(ECHONL) | tcflag_t(ICANON))
            if tcsetattr(descriptor, TCSANOW, &settings) != 0 { before = nil }
        }
    }

    /// Gives the terminal its settings back; nothing where they are in force.
    static func restore() {
        before.withLock { before in
            guard var settings = before.take(), isInForeground else { return }
            // What was typed stays in the queue: it is for the shell.
            tcsetattr(descriptor, TCSANOW, &settings)
        }
    }

    /// How often the process was stopped and continued: other programs have written below the view then.
    static var continuations: Int { continued.load(ordering: .relaxed) }
    private static let continued = Atomic<Int>(0)

    /// After a stop: quiet again, if a view is still drawn and the shell has put us into the foreground.
    static func resume() {
        continued.add(1, ordering: .relaxed)
        if isWanted.withLock({ $0 }) { silence() }
    }
}

/// The signals that end, stop and continue a process whose terminal is set otherwise than the shell left it.
enum TerminalSignals {
    /// Handles the signals from now to the end of the process; a second call changes nothing.
    static func handle() {
        sources.withLock { sources in
            guard sources.isEmpty else { return }
            for signal in [SIGHUP, SIGQUIT] { sources.append(source(signal) { end(by: signal) }) }
            sources.append(source(SIGTSTP, stop))
            sources.append(source(SIGCONT) { QuietTerminal.resume() })
        }
    }

    private static let sources = Mutex<[any DispatchSourceSignal]>([])
    private static let queue = DispatchQueue(label: "pipectl.terminal-signals")

    private static func source(
        _ number: Int32, _ body: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        #if canImport(Darwin)
            // kqueue tells of a signal beside its action, which must therefore be none; SIGCONT's is harmless. Not
            // SIG_IGN, which programs that are started would inherit.
            if number != SIGCONT { signal(number) { _ in } }
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { body() }
        source.activate()
        return source
    }

    /// Ends as the signal does where nobody handles it, so that the shell sees why.
    private static func end(by number: Int32) {
        QuietTerminal.restore()
        signal(number, SIG_DFL)
        // Dispatch blocks signals in the threads that it uses.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// Stops, as Ctrl-Z asks, until the shell continues the process.
    private static func stop() {
        // The leader of a session has no shell that could continue it; the kernel would not stop it either.
        guard getsid(0) != getpid() else { return }
        QuietTerminal.restore()
        // Not SIGTSTP once more, which dispatch would only report again.
        kill(getpid(), SIGSTOP)
    }
}
