import Synchronization
package import Pipeline
package import SystemCalls

/// Lets the processes of one sandbox, which has no network, reach named hosts by TLS: a proxy for `CONNECT` (RFC 9110,
/// 9.3.6) on a socket that only this sandbox sees.
///
/// The daemon resolves the names. It connects to public addresses only, whatever the name is, and passes on nothing but
/// TLS, whose ends are the agent and the host.
package struct HostGate: Sendable {
    /// The most connections at the same time.
    static let mostConnections = 64
    /// The longest head of a request, in bytes.
    static let headBytes = 8 << 10
    /// The longest name that is told, in bytes.
    static let nameBytes = 260
    /// The most refused hosts of which each is told; further ones are only refused.
    static let mostRefusals = 100

    /// Limits of time, which tests shorten.
    package struct Patience: Sendable {
        /// For the head of a request, and for the first byte after it.
        package var request = Duration.seconds(20)
        /// For a name's addresses.
        package var resolving = Duration.seconds(10)
        /// For one address.
        package var connecting = Duration.seconds(10)

        package init() {}
    }

    private let hosts: Set<AllowedHost>
    private let names: HostNames
    private let patience: Patience
    private let refused: @Sendable (HostRefusal) -> Void
    private let open = OpenCount()
    private let told = Refused()

    /// - Parameter refused: Is told once of each host that is refused, from any thread. It must not block.
    package init(
        _ hosts: [AllowedHost], names: HostNames = .machine, patience: Patience = Patience(),
        refused: @escaping @Sendable (HostRefusal) -> Void
    ) {
        self.hosts = Set(hosts)
        self.names = names
        self.patience = patience
        self.refused = refused
    }

    /// The hosts that were refused.
    private final class Refused: Sendable {
        private let hosts = Mutex<Set<String>>([])

        func isNew(_ host: String) -> Bool {
            hosts.withLock { $0.count < HostGate.mostRefusals && $0.insert(host).inserted }
        }
    }

    /// Serves connections until the task is cancelled.
    ///
    /// - Parameter listener: Is listening, and stays open.
    package func serve(_ listener: StreamSocket) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    guard let client = try await listener.accept() else { return }
                    guard open.enter(atMost: Self.mostConnections) else {
                        client.writeNow(Self.answer("503 Service Unavailable", "too many connections are open"))
                        continue
                    }
                    group.addTask {
                        defer {
                            client.close()
                            open.leave()
                        }
                        // A broken connection concerns nobody but its two ends.
                        do { try await attend(client) } catch {}
                    }
                } catch {
                    // Out of descriptors: the client stays in the kernel's queue until some are free.
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
        }
    }

    private func attend(_ client: StreamSocket) async throws {
        let head = try await within(patience.request) { try await Self.head(from: client) }
        guard let head else { return client.writeNow(Self.answer("400 Bad Request", "the request has no end")) }
        guard let request = Self.connect(head.text) else {
            refuse("(none)", "it asked for something else than a TLS connection", client, "405 Method Not Allowed")
            return
        }
        let host: AllowedHost
        do throws(AllowedHostProblem) { host = try AllowedHost(request) } catch {
            return refuse(request, "only hosts that are named can be reached", client)
        }
        guard hosts.contains(host) else {
            return refuse(request, "the repository's tasks do not name it", client)
        }
        let addresses: [NetworkTarget]
        do {
            addresses = try await within(patience.resolving) { [names] in try await names.addresses(host) }
        } catch {
            return refuse(request, "its name can't be resolved", client, "502 Bad Gateway")
        }
        let targets = addresses.filter(names.permits)
        guard !targets.isEmpty else {
            return refuse(request, "its address is not a public one", client)
        }
        guard let remote = try await connection(to: targets) else {
            return client.writeNow(Self.answer("502 Bad Gateway", "\(host.name) does not answer"))
        }
        defer { remote.close() }
        try await client.write(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))
        var first = head.rest
        if first.isEmpty {
            first = try await within(patience.request) {
                var bytes: [UInt8] = []
                _ = try await client.read(into: &bytes)
                return bytes
            }
        }
        // TLS begins with a record of the type "handshake" (RFC 8446, 5.1).
        guard first.first == 0x16 else {
            if !first.isEmpty { refuse(request, "it spoke something else than TLS", client, answers: false) }
            return
        }
        try await remote.write(first)
        try await Self.join(client, remote)
    }

    private func refuse(
        _ host: String, _ reason: String, _ client: StreamSocket, _ status: String = "403 Forbidden",
        answers: Bool = true
    ) {
        // The text is the client's: it must be short, and of one line. Its beginning alone could be a part of a secret,
        // which nobody would recognise.
        var name = String(host.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F })
        if name.utf8.count > Self.nameBytes { name = "(a name of \(name.utf8.count) characters)" }
        if told.isNew(name) { refused(HostRefusal(host: name, reason: reason)) }
        if answers { client.writeNow(Self.answer(status, "\(name): \(reason)")) }
    }

    private func connection(to targets: [NetworkTarget]) async throws -> StreamSocket? {
        for target in targets.prefix(8) {
            let socket = try StreamSocket.make(family: target.family)
            do {
                try await within(patience.connecting) { try await socket.connect(to: target) }
                return socket
            } catch {
                socket.close()
                try Task.checkCancellation()
            }
        }
        return nil
    }

    /// The bytes up to the empty line, and what has come after it; nil if there is none.
    private static func head(from client: StreamSocket) async throws -> (text: String, rest: [UInt8])? {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while bytes.count <= headBytes {
            guard try await client.read(into: &bytes) else { return nil }
            for start in bytes.indices.dropLast(3) where bytes[start..<start + 4].elementsEqual(end) {
                return (String(decoding: bytes[..<start], as: UTF8.self), Array(bytes[(start + 4)...]))
            }
        }
        return nil
    }

    /// The host of `CONNECT host:port HTTP/1.1`; nil for another request.
    private static func connect(_ head: String) -> String? {
        let line = head.prefix { $0 != "\r\n" && $0 != "\n" }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
        return String(words[1])
    }

    private static func answer(_ status: String, _ text: String) -> [UInt8] {
        let body = "pipectl: \(text)\n"
        return Array(
            """
            HTTP/1.1 \(status)\r
            Content-Type: text/plain\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """.utf8)
    }

    /// Passes bytes on in both directions until both have ended, or one of them breaks.
    private static func join(_ one: StreamSocket, _ other: StreamSocket) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pass(from: one, to: other) }
            group.addTask { try await pass(from: other, to: one) }
            try await group.waitForAll()
        }
    }

    private static func pass(from source: StreamSocket, to target: StreamSocket) async throws {
        var buffer: [UInt8] = []
        while try await source.read(into: &buffer) {
            try await target.write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        target.endWriting()
    }
}

/// A host that an agent was not let through to.
package struct HostRefusal: Sendable, Equatable {
    /// As the agent named it: printable ASCII, at most 260 bytes.
    package var host: String
    package var reason: String
}

/// Runs `work` for at most `limit`.
///
/// - Throws: What `work` throws; ``TimeIsUp``.
func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TimeIsUp()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw TimeIsUp() }
        return value
    }
}

struct TimeIsUp: Error {}
