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

/// Switches off the terminal's echo while a live view draws: each typed line would shift the view and leave a copy of
/// its last row.
///
/// Typed keys stay in the queue for the shell. Ctrl-C and Ctrl-Z work as usual. The earlier settings are restored at
/// the end of the view, at each `exit`, at signals that end or stop the process, and while it is stopped. After a crash
/// the shell itself restores them.
package enum QuietTerminal {
    /// Runs `body` without echo, if this process may change the terminal's settings.
    ///
    /// - Parameter isLive: Whether a view redraws lines. The command handles SIGINT and SIGTERM itself: it ends the
    ///   view, or calls `exit`.
    package static func during<Value>(_ isLive: Bool, _ body: () async throws -> Value) async rethrows -> Value {
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
    /// The settings to restore; nil while they apply.
    private static let before = Mutex<termios?>(nil)
    /// Whether a view is active, also while the process is stopped.
    private static let isWanted = Mutex(false)
    /// Restores the settings at every exit.
    private static let atEnd: Void = { _ = atexit { QuietTerminal.restore() } }()

    /// Whether the terminal is ours to change: a pager behind a pipe changes it too, and the two would restore each
    /// other's settings.
    private static var isOurs: Bool {
        isatty(0) == 1 && isatty(descriptor) == 1 && !PipeEnd.isThere(1)
    }

    /// A background process that changes the terminal is stopped by SIGTTOU (termios(3)).
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

    /// Restores the terminal's settings if they were changed.
    static func restore() {
        before.withLock { before in
            guard var settings = before.take(), isInForeground else { return }
            // TCSANOW keeps the typed keys in the queue, for the shell.
            tcsetattr(descriptor, TCSANOW, &settings)
        }
    }

    /// How often the process was stopped and continued. Each time other programs may have written below the view.
    package static var continuations: Int { continued.load(ordering: .relaxed) }
    private static let continued = Atomic<Int>(0)

    /// After a stop: switches the echo off again, if a view is active and the process is in the foreground.
    static func resume() {
        continued.add(1, ordering: .relaxed)
        if isWanted.withLock({ $0 }) { silence() }
    }
}

/// Handles signals that end, stop and continue the process while the terminal's settings are changed.
enum TerminalSignals {
    /// Handles the signals from now until the process ends. Further calls do nothing.
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
            // kqueue reports a signal in addition to its action, so the action must do nothing; SIGCONT's default is
            // harmless. SIG_IGN is no choice, since child processes would inherit it.
            if number != SIGCONT { signal(number) { _ in } }
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { body() }
        source.activate()
        return source
    }

    /// Ends the process by the signal's default action, so that the shell sees the reason.
    private static func end(by number: Int32) {
        QuietTerminal.restore()
        signal(number, SIG_DFL)
        // Dispatch blocks signals in its threads.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    /// Stops the process, as Ctrl-Z does, until the shell continues it.
    private static func stop() {
        // The leader of a session has no shell that could continue it; the kernel would not stop it either.
        guard getsid(0) != getpid() else { return }
        QuietTerminal.restore()
        // SIGTSTP would only be reported to dispatch again.
        kill(getpid(), SIGSTOP)
    }
}
