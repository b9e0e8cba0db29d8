internal import Foundation

/// An address of the network with a port, as the resolver gives it.
package struct NetworkTarget: Sendable, Hashable {
    /// An address of four bytes, or of sixteen.
    package enum Address: Sendable, Hashable {
        case four([UInt8])
        case six([UInt8])
    }

    package var address: Address
    package var port: UInt16

    package init(_ address: Address, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// The socket's family.
    package var family: Int32 {
        switch address {
        case .four: AF_INET
        case .six: AF_INET6
        }
    }

    /// The addresses of a host's name. It blocks, for as long as the machine's resolver takes.
    ///
    /// - Throws: ``NetworkNameProblem``.
    package static func resolve(_ host: String, port: UInt16) throws -> [NetworkTarget] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if os(Linux)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { throw NetworkNameProblem(host: host, reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var found: [NetworkTarget] = []
        var next = list
        while let one = next {
            next = one.pointee.ai_next
            guard let address = one.pointee.ai_addr else { continue }
            switch one.pointee.ai_family {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    let bytes = withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
                    found.append(NetworkTarget(.four(bytes), port: port))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    let bytes = withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
                    found.append(NetworkTarget(.six(bytes), port: port))
                }
            default: continue
            }
        }
        return found
    }

    /// Calls `body` with the address in the form that the kernel wants.
    func withAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        switch address {
        case .four(let bytes):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            #if canImport(Darwin)
                address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
            #endif
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes.prefix($0.count)) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .six(let bytes):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            #if canImport(Darwin)
                address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes.prefix($0.count)) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}

/// A host's name for which the machine knows no address.
package struct NetworkNameProblem: Error, CustomStringConvertible {
    package let host: String
    package let reason: String
    package var description: String { "\(host) has no address: \(reason)" }
}
