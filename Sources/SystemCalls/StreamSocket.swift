package import Foundation

/// A connected or listening socket. It suspends the task where others block a thread.
package final class StreamSocket: Sendable {
    package let descriptor: Descriptor
    private let readable: Readiness
    private let writable: Readiness

    /// Takes ownership of `number`.
    package init(adopting number: Int32) {
        descriptor = Descriptor(number)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var on: Int32 = 1
            _ = setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        readable = Readiness(descriptor, .reading)
        writable = Readiness(descriptor, .writing)
    }

    deinit { close() }

    /// - Parameter family: `AF_UNIX`, or that of an address of the network.
    package static func make(family: Int32 = AF_UNIX) throws(SystemFailure) -> StreamSocket {
        #if os(Linux)
            let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let number = socket(family, SOCK_STREAM, 0)
        #endif
        guard number >= 0 else { throw SystemFailure("socket") }
        return StreamSocket(adopting: number)
    }

    /// Ends both directions at once. The descriptor is closed with its last user.
    package func close() {
        _ = shutdown(descriptor.number, Int32(SHUT_RDWR))
        readable.close()
        writable.close()
    }

    // MARK: Addresses

    /// `errno` of `connect(2)`, 0 if it succeeded. A Unix socket connects at once or not at all.
    package func connect(to path: String) -> Int32 {
        UnixAddress.with(path) { Glue.connect(descriptor.number, $0, $1) == 0 ? 0 : errno } ?? ENAMETOOLONG
    }

    /// Connects to an address of the network and waits for the answer. Throws `CancellationError` and
    /// ``SystemFailure``.
    package func connect(to target: NetworkTarget) async throws {
        let code = target.withAddress { Glue.connect(descriptor.number, $0, $1) == 0 ? 0 : errno }
        guard code == EINPROGRESS else {
            if code != 0 { throw SystemFailure("connect", code) }
            return
        }
        await writable.wait()
        try Task.checkCancellation()
        var (result, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &result, &size) == 0 else {
            throw SystemFailure("getsockopt")
        }
        guard result == 0 else { throw SystemFailure("connect", result) }
    }

    /// `errno` of `bind(2)`, 0 if it succeeded.
    package func bind(to path: String) -> Int32 {
        UnixAddress.with(path) { Glue.bind(descriptor.number, $0, $1) == 0 ? 0 : errno } ?? ENAMETOOLONG
    }

    /// The same for an address of this machine; port 0 is any that is free.
    package func bind(to target: NetworkTarget) -> Int32 {
        target.withAddress { Glue.bind(descriptor.number, $0, $1) == 0 ? 0 : errno }
    }

    /// The port to which the socket is bound; nil for a Unix socket.
    package var port: UInt16? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor.number, $0, &size) }
        }
        guard code == 0, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
        // Both families have it at the same place.
        return UInt16(bigEndian: address.sin6_port)
    }

    package func listen() throws(SystemFailure) {
        guard Glue.listen(descriptor.number, 128) == 0 else { throw SystemFailure("listen") }
    }

    /// The next connection; `nil` when the task is cancelled. Throws the error of `accept(2)`, which may be temporary
    /// (`EMFILE`).
    package func accept() async throws(SystemFailure) -> StreamSocket? {
        while !Task.isCancelled {
            let number = Glue.accept(descriptor.number)
            if number >= 0 { return StreamSocket(adopting: number) }
            switch errno {
            case EAGAIN: await readable.wait()
            case EINTR, ECONNABORTED: continue
            default: throw SystemFailure("accept")
            }
        }
        return nil
    }

    /// The user on the other end, as the kernel recorded it when the connection was made.
    package var peerUser: uid_t? {
        #if os(Linux)
            // struct ucred { pid_t pid; uid_t uid; gid_t gid; } (unix(7)), which Swift does not import.
            var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
            var size = socklen_t(MemoryLayout.size(ofValue: credentials))
            guard getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
            return credentials.uid
        #else
            var user: uid_t = 0
            var group: gid_t = 0
            return getpeereid(descriptor.number, &user, &group) == 0 ? user : nil
        #endif
    }

    // MARK: Bytes

    /// Appends what has arrived to `buffer`; `false` at the end. Throws `CancellationError`.
    package func read(into buffer: inout [UInt8]) async throws -> Bool {
        while true {
            try Task.checkCancellation()
            switch receive(into: &buffer) {
            case .some(let count): return count > 0
            case .none: await readable.wait()
            }
        }
    }

    /// Bytes appended to `buffer`, 0 at the end (a broken connection is one too), `nil` if nothing has arrived.
    package func receive(into buffer: inout [UInt8]) -> Int? {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { chunk in
            while true {
                let count = recv(descriptor.number, chunk.baseAddress, chunk.count, 0)
                if count >= 0 {
                    buffer.append(contentsOf: chunk.prefix(count))
                    return count
                }
                switch errno {
                case EINTR: continue
                case EAGAIN: return nil
                default: return 0
                }
            }
        }
    }

    /// Writes all of `bytes`, waiting while the other side is slow. Throws `CancellationError` and ``SystemFailure``.
    package func write(_ bytes: [UInt8]) async throws {
        var sent = 0
        while sent < bytes.count {
            try Task.checkCancellation()
            switch send(bytes[sent...]) {
            case .success(let count): sent += count
            case .failure(let failure) where failure.number == EAGAIN: await writable.wait()
            case .failure(let failure): throw failure
            }
        }
    }

    /// Tells the other side that nothing more comes; it may still send.
    package func endWriting() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Writes what the kernel accepts without waiting: a last message to a client that may not read it.
    package func writeNow(_ bytes: [UInt8]) { _ = send(bytes[...]) }

    private func send(_ bytes: ArraySlice<UInt8>) -> Result<Int, SystemFailure> {
        #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        while true {
            let count = bytes.withUnsafeBytes { Glue.send(descriptor.number, $0, flags) }
            if count >= 0 { return .success(count) }
            if errno != EINTR { return .failure(SystemFailure("send")) }
        }
    }

    /// Whether the other side has closed the connection, and not only ended its direction.
    package var hasHungUp: Bool {
        var request = pollfd(fd: descriptor.number, events: 0, revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }
}

/// C functions whose names ``StreamSocket`` uses for methods, too.
private enum Glue {
    static func connect(_ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        Foundation.connect(number, address, size)
    }
    static func bind(_ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        Foundation.bind(number, address, size)
    }
    static func listen(_ number: Int32, _ backlog: Int32) -> Int32 { Foundation.listen(number, backlog) }
    static func accept(_ number: Int32) -> Int32 { Foundation.accept(number, nil, nil) }
    static func send(_ number: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
        Foundation.send(number, bytes.baseAddress, bytes.count, flags)
    }
}
