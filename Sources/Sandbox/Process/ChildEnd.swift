import Concurrency

#if os(Linux)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Waits for the end of a child with a time limit, which waitpid(2) does not have.
struct ChildEnd: ~Copyable {
    /// Nil where the system has no descriptors for processes.
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

    /// Waits for a killed child: for a second at first, then on a thread of its own. A process that hangs in the kernel
    /// does not end, nor does the first process of a namespace before all others in it.
    static func reap(_ pid: pid_t) {
        let end = ChildEnd(pid)
        for _ in 0..<10 {
            if waitpid(pid, nil, WNOHANG) != 0 { return }
            end.wait()
        }
        _ = startThread { while waitpid(pid, nil, 0) < 0 && errno == EINTR {} }
    }

    /// Returns when the child has ended, or after at most a tenth of a second.
    func wait() {
        guard let descriptor else {
            // Most children end within milliseconds, and the next run may be waiting.
            usleep(500)
            return
        }
        var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&ended, 1, 100)
    }
}
