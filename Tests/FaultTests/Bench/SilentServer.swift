import Foundation
import Synchronization
import TestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A server on loopback that accepts every connection and never sends anything.
final class SilentServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let guests = Mutex<[Int32]>([])

    init() throws {
        #if canImport(Darwin)
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        #endif
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isListening else { throw Bench.Failure(description: "no server on the loopback: errno \(errno)") }
    }

    /// The number of connections so far; they stay open.
    var visits: Int {
        guests.withLock { guests in
            while case let guest = accept(listener, nil, nil), guest >= 0 {
                _ = fcntl(guest, F_SETFD, FD_CLOEXEC)
                guests.append(guest)
            }
            return guests.count
        }
    }

    deinit {
        guests.withLock { for guest in $0 { close(guest) } }
        close(listener)
    }
}
