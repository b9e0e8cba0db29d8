import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

#if os(Linux)
    let noSignal = Int32(MSG_NOSIGNAL)
#else
    /// Sockets have `SO_NOSIGPIPE` instead.
    let noSignal: Int32 = 0
#endif

/// Two connected stream sockets that no child inherits.
package func socketPair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
        let kind = SOCK_STREAM
    #endif
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw Errno(rawValue: errno) }
    #if !os(Linux)
        for socket in pair {
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    #endif
    return (pair[0], pair[1])
}

/// Two ends of a pipe that no child inherits; reading does not block.
func outputPipe() throws -> (reading: Int32, writing: Int32) {
    var pair: [Int32] = [-1, -1]
    guard pipe(&pair) == 0 else { throw Errno(rawValue: errno) }
    // This can't be done at once, because Swift's Glibc lacks pipe2. Processes that are started in between (stepinit,
    // tools by swift-subprocess) close all descriptors but their own.
    for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(pair[0], F_SETFL, O_NONBLOCK)
    return (pair[0], pair[1])
}

/// Closes a descriptor; errors are ignored.
package func closeFile(_ number: Int32) { _ = close(number) }
