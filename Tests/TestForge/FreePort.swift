import Foundation
import NIOCore
import NIOPosix
import Synchronization

extension ForgeDouble {
    private static let given = Mutex<Set<Int>>([])

    /// A port of this machine that nobody listens at, and that the system gives to nobody who asks for any port. It is
    /// returned once in the life of this process.
    package static func freePort() async throws -> Int {
        let ports = 10_000..<firstOfSystem
        let start = Int.random(in: ports)
        for port in Array(start..<ports.upperBound) + Array(ports.lowerBound..<start)
        where given.withLock({ $0.insert(port).inserted }) {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            guard let listener = try? await bootstrap.bind(host: "127.0.0.1", port: port).get() else { continue }
            try await listener.close()
            return port
        }
        throw NoFreePort(description: "all ports from \(ports.lowerBound) to \(ports.upperBound - 1) are in use")
    }

    private struct NoFreePort: Error, CustomStringConvertible { var description: String }

    /// The first port that the system gives to connections and to servers that ask for any port.
    private static var firstOfSystem: Int {
        let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        // macOS has no such file.
        guard let first else { return 49_152 }
        // Where the system takes nearly all of them, no port is better than another.
        return first < 12_000 ? 65_536 : first
    }
}
