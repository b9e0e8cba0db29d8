#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes to a pipe or a socket whose other end may be gone, without a signal that would end this process.
enum QuietWrite {
    /// Writes all bytes and returns 0, or an errno.
    static func all(_ bytes: [UInt8], to file: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { some(UnsafeRawBufferPointer(rebasing: $0[written...]), to: file) }
            if count > 0 {
                written += count
                continue
            }
            let code = errno
            switch code {
            case EINTR: continue
            case EAGAIN:
                var request = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, 1_000)
            default: return code
            }
        }
        return 0
    }

    private static func some(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
        #if os(Linux)
            let sent = send(file, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            guard sent < 0, errno == ENOTSOCK else { return sent }
            // For a pipe there is no such flag: the signal is held back, and taken if the write raised it.
            var (pipe, before) = (sigset_t(), sigset_t())
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, &before)
            let count = write(file, bytes.baseAddress, bytes.count)
            let code = errno
            if count < 0, code == EPIPE {
                var now = timespec()
                while sigtimedwait(&pipe, nil, &now) < 0, errno == EINTR {}
            }
            pthread_sigmask(SIG_SETMASK, &before, nil)
            errno = code
            return count
        #else
            _ = fcntl(file, F_SETNOSIGPIPE, 1)
            return write(file, bytes.baseAddress, bytes.count)
        #endif
    }
}
