import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs a command for a person at this process's terminal, or with this process's own input and output if it has no
/// terminal.
///
/// A command in a sandbox never gets the person's own terminal, since it could type into it. It has a pseudo-terminal
/// of its own, and all bytes are copied in both directions.
public struct TerminalSession: Sendable {
    private let opened: OpenedStep

    /// A session that will run `opened`.
    public init(_ opened: OpenedStep) { self.opened = opened }

    /// Whether standard input and output are a terminal.
    public static var isAtTerminal: Bool { isatty(0) == 1 && isatty(1) == 1 }

    /// Runs the command to its end; blocks.
    ///
    /// - Returns: The exit code; for a signal, its number plus 128.
    /// - Throws: `Errno` if it can't be started.
    public func run() throws -> Int32 {
        #if os(Linux)
            return TerminalSession.isAtTerminal ? try relay() : try plain(opened.words)
        #else
            // On macOS script(1) makes the pseudo-terminal: only the leader of a new session can make it its
            // controlling one.
            return try plain(
                TerminalSession.isAtTerminal ? ["/usr/bin/script", "-q", "/dev/null"] + opened.words : opened.words)
        #endif
    }

    private func plain(_ words: [String]) throws -> Int32 {
        let pid = try start(words, session: false, terminal: nil)
        return try wait(pid)
    }

    #if os(Linux)
        private func relay() throws -> Int32 {
            // The same calls as in posix_openpt(3), unlockpt(3) and ptsname(3); see pts(4) and ioctl_tty(2), TIOCSPTLCK
            // and TIOCGPTN.
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard master >= 0 else { throw Errno(rawValue: errno) }
            defer { close(master) }
            var (isLocked, number) = (Int32(0), UInt32(0))
            guard ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
                throw Errno(rawValue: errno)
            }
            var size = winsize()
            if ioctl(0, UInt(TIOCGWINSZ), &size) == 0 { _ = ioctl(master, UInt(TIOCSWINSZ), &size) }
            let pid = try start(opened.words, session: true, terminal: "/dev/pts/\(number)")
            var before = termios()
            tcgetattr(0, &before)
            var raw = before
            cfmakeraw(&raw)
            tcsetattr(0, TCSANOW, &raw)
            defer { tcsetattr(0, TCSANOW, &before) }
            return try passOn(master, pid, &size)
        }

        private func passOn(_ master: Int32, _ pid: pid_t, _ size: inout winsize) throws -> Int32 {
            var isInputOpen = true
            var status: Int32?
            var buffer = [UInt8](repeating: 0, count: 1 << 14)
            while true {
                var files = [
                    pollfd(fd: master, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: isInputOpen ? 0 : -1, events: Int16(POLLIN), revents: 0),
                ]
                let ready = poll(&files, 2, 200)
                if ready < 0 && errno != EINTR { throw Errno(rawValue: errno) }
                if files[0].revents != 0 {
                    let count = read(master, &buffer, buffer.count)
                    if count > 0 { write(all: buffer.prefix(count), to: 1) }
                    // EIO: no process has the other side open.
                    if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN {
                        return try status ?? wait(pid)
                    }
                } else if status != nil {
                    // The command has ended and its output is complete. Background processes that it left must not keep
                    // the person waiting.
                    return status ?? 0
                }
                if files[1].revents != 0 {
                    let count = read(0, &buffer, buffer.count)
                    if count > 0 { write(all: buffer.prefix(count), to: master) } else { isInputOpen = false }
                }
                var now = winsize()
                if ioctl(0, UInt(TIOCGWINSZ), &now) == 0, now.ws_col != size.ws_col || now.ws_row != size.ws_row {
                    size = now
                    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
                }
                if status == nil { status = ended(pid) }
            }
        }
    #endif

    private func write(all bytes: ArraySlice<UInt8>, to file: Int32) {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = writeSome(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }

    private func start(_ words: [String], session: Bool, terminal: String?) throws -> pid_t {
        try spawn(words, variables: opened.environment.map { "\($0.key)=\($0.value)" }) { actions, attributes in
            if let terminal {
                // The first terminal that a session leader opens becomes its controlling one (tty(4)).
                posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
                for output: Int32 in [1, 2] { posix_spawn_file_actions_adddup2(&actions, 0, output) }
            }
            #if os(Linux)
                // POSIX_SPAWN_SETSID; Swift does not see the macro that would define it.
                if session { posix_spawnattr_setflags(&attributes, 0x80) }
            #endif
        }.get()
    }

    private func ended(_ pid: pid_t) -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return TerminalSession.code(status)
    }

    private func wait(_ pid: pid_t) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw Errno(rawValue: errno) }
        }
        return TerminalSession.code(status)
    }

    private static func code(_ status: Int32) -> Int32 {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}

private func writeSome(_ file: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int { write(file, start, count) }
