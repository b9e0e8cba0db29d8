#if os(Linux)
    import Concurrency
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The end of a child, to be waited for with a limit, which waitpid(2) has none of.
struct ChildEnd: ~Copyable {
    /// Nil where the system has no such thing.
    private let descriptor: Int32?

    init(_ pid: pid_t) {
        #if os(Linux)
            // Linux 5.3.
            let file = clinux_open_process(pid)
            descriptor = file < 0 ? nil : file
        #else
            descriptor = nil
        #endif
    }

    deinit { if let descriptor { closeFile(descriptor) } }

    /// Waits for a child that was killed: for a second, then on a thread of its own. What hangs in the kernel does not end,
    /// and nor does the first process of a namespace before all in there has.
    static func reap(_ pid: pid_t) {
        let end = ChildEnd(pid)
        for _ in 0..<10 {
            if waitpid(pid, nil, WNOHANG) != 0 { return }
            end.wait()
        }
        _ = startThread { while waitpid(pid, nil, 0) < 0 && errno == EINTR {} }
    }

    /// Returns when it has ended, or after a tenth of a second at most.
    func wait() {
        guard let descriptor else {
            // Most end within milliseconds, for which the next run may wait.
            usleep(500)
            return
        }
        var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&ended, 1, 100)
    }
}
