import AgentWork
import Synchronization
import Pipeline
import SystemCalls
import TestBasics
import Testing

/// A gate on a Unix socket, and the one server on loopback to which all allowed names lead.
final class TestGate: Sendable {
    private let seen = Mutex((refusals: [HostRefusal](), received: [UInt8](), connections: 0))
    private let hosts: [String]
    private let addresses: [[UInt8]]?
    private let patience: HostGate.Patience
    private let path = Mutex("")

    /// - Parameter addresses: What the names resolve to; nil: the server on loopback, which is permitted then.
    init(_ hosts: [String], addresses: [[UInt8]]? = nil, patience: HostGate.Patience = HostGate.Patience()) {
        self.hosts = hosts
        self.addresses = addresses
        self.patience = patience
    }

    var refusals: [HostRefusal] { seen.withLock { $0.refusals } }
    /// What the server got.
    var received: [UInt8] { seen.withLock { $0.received } }
    var connections: Int { seen.withLock { $0.connections } }

    /// Calls `body` while the gate and the server are there.
    func serving(_ body: @escaping @Sendable (TestGate) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = try StreamSocket.make(family: NetworkTarget(.four([127, 0, 0, 1]), port: 0).family)
            #expect(server.bind(to: NetworkTarget(.four([127, 0, 0, 1]), port: 0)) == 0)
            try server.listen()
            let port = try #require(server.port)
            let listener = try StreamSocket.make()
            let path = "\(folder)/gate"
            #expect(listener.bind(to: path) == 0)
            try listener.listen()
            self.path.withLock { $0 = path }
            let allowed = try hosts.map { try AllowedHost($0) }
            let gate = HostGate(
                allowed,
                names: HostNames(
                    addresses: { [addresses] _ in
                        (addresses ?? [[127, 0, 0, 1]]).map { NetworkTarget(.four($0), port: port) }
                    }, permits: { [addresses] in addresses == nil || $0.isPublic }),
                patience: patience,
                refused: { refusal in self.seen.withLock { $0.refusals.append(refusal) } })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await gate.serve(listener) }
                group.addTask { try await self.echo(server) }
                try await body(self)
                group.cancelAll()
            }
        }
    }

    func client() async throws -> Client {
        let socket = try StreamSocket.make()
        #expect(socket.connect(to: path.withLock { $0 }) == 0)
        return Client(socket: socket)
    }

    /// Sends back what comes.
    private func echo(_ server: StreamSocket) async throws {
        await withDiscardingTaskGroup { group in
            while let client = try? await server.accept() {
                seen.withLock { $0.connections += 1 }
                group.addTask {
                    var bytes: [UInt8] = []
                    while (try? await client.read(into: &bytes)) == true {
                        self.seen.withLock { $0.received += bytes }
                        try? await client.write(bytes)
                        bytes = []
                    }
                    client.close()
                }
            }
        }
    }

    /// A process in the sandbox.
    struct Client: Sendable {
        let socket: StreamSocket

        /// The answer to a request, up to the empty line.
        func ask(_ request: String) async throws -> String {
            try await socket.write(Array(request.utf8))
            var bytes: [UInt8] = []
            while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
                guard try await socket.read(into: &bytes) else { break }
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        func bytes(_ count: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                guard try await socket.read(into: &bytes) else { break }
            }
            return bytes
        }

        /// All that comes until the other side ends.
        func rest() async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while try await socket.read(into: &bytes) {}
            return bytes
        }
    }
}
