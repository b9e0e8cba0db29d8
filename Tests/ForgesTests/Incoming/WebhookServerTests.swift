@testable import ForgeConnection
import TestBasics
import TestForge
import AsyncHTTPClient
import Foundation
import Listening
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Forges

/// A server on loopback that hears webhooks of one repository at each kind of forge.
private enum Hearing {
    struct Reply: Equatable {
        var status: Int
        var text: String
    }

    static func open(
        _ kind: ForgeKind = .github, deadline: Double = 10, tls: (certificate: String, key: String)? = nil,
        _ body: @Sendable (Open) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let secrets = ForgeCredentialStore(folder: FilePath(folder.path), environment: [:])
        try secrets.keep(WebhookSecret(text: Delivery.secret), for: "hello")
        let endpoint = WebhookEndpoint(secrets: secrets)
        let (inbox, looks) = (ForgeInbox(), Counter())
        endpoint.serve([
            "hello": WebhookEndpoint.Target(kind: kind, project: "octo/hello", inbox: inbox, look: { looks.add() })
        ])
        let ports = AsyncStream<Int>.makeStream()
        var log = Logger(label: "test")
        log.logLevel = .critical
        let options = try ListenOptions(
            address: ListenAddress("127.0.0.1:0"), certificate: tls?.certificate, key: tls?.key)
        let server = WebServer(
            options, deadline: deadline, log: log, whenListening: { ports.continuation.yield($0) },
            answer: endpoint.responder())
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(10), read: .seconds(30)))
        configuration.tlsConfiguration = .clientDefault
        configuration.tlsConfiguration?.certificateVerification = .none
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { ports.continuation.finish() }
                    try await server.run()
                }
                var iterator = ports.stream.makeAsyncIterator()
                // A server that can't start says why.
                guard let port = await iterator.next() else { return try await group.waitForAll() }
                try await body(
                    Open(inbox: inbox, looks: looks, port: port, scheme: tls == nil ? "http" : "https", http: http))
                group.cancelAll()
            }
        } catch is CancellationError {
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        withExtendedLifetime(folder) {}
    }

    final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    struct Open: Sendable {
        let inbox: ForgeInbox
        let looks: Counter
        let port: Int
        let scheme: String
        let http: HTTPClient

        func expect(
            _ status: Int, _ body: String, _ headers: [String: String], to path: String = "/hooks/hello",
            method: String = "POST", says text: String? = nil, at place: SourceLocation = #_sourceLocation
        ) async throws {
            let reply = try await post(body, headers, to: path, method: method)
            #expect(reply.status == status, sourceLocation: place)
            if let text { #expect(reply.text == text + "\n", sourceLocation: place) }
        }

        func post(
            _ body: String, _ headers: [String: String], to path: String = "/hooks/hello", method: String = "POST"
        ) async throws -> Reply {
            var request = HTTPClientRequest(url: "\(scheme)://127.0.0.1:\(port)\(path)")
            request.method = HTTPMethod(rawValue: method)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if method == "POST" { request.body = .bytes(ByteBuffer(string: body)) }
            let answer = try await http.execute(request, timeout: .seconds(30))
            let text = String(buffer: try await answer.body.collect(upTo: 1 << 20))
            return Reply(status: Int(answer.status.code), text: text)
        }
    }
}

@Suite struct WebhookServerTests {
    @Test(.timeLimit(.minutes(5)))
    func `a signed delivery is taken once, whoever sends it again`() async throws {
        try await Hearing.open { hearing in
            let body = Delivery.pull()
            try await hearing.expect(202, body, Delivery.github(body))
            #expect(hearing.looks.count == 1)
            // The forge delivers it again.
            try await hearing.expect(202, body, Delivery.github(body), says: "known")
            // Somebody who heard it sends it with another id, which nobody signs.
            try await hearing.expect(202, body, Delivery.github(body, id: "2"), says: "known")
            #expect(hearing.looks.count == 1)
            #expect(hearing.inbox.empty().changes == [7])
            // Out of order: an older state arrives late, and is a hint to look like any other.
            let older = Delivery.pull(action: "opened")
            try await hearing.expect(202, older, Delivery.github(older, id: "0"), says: "taken")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `what is not signed, not JSON, too large or elsewhere is refused`() async throws {
        try await Hearing.open { hearing in
            let body = Delivery.pull()
            let signed = Delivery.github(body)
            try await hearing.expect(401, body, Delivery.github(body, secret: "another-secret-01"))
            try await hearing.expect(401, body + " ", signed)
            try await hearing.expect(401, body, ["content-type": "application/json"])
            try await hearing.expect(401, body, signed, to: "/hooks/other")
            try await hearing.expect(404, body, signed, to: "/hooks/")
            try await hearing.expect(404, body, signed, to: "/hooks/hello/../hello")
            try await hearing.expect(404, body, signed, to: "/")
            try await hearing.expect(405, "", signed, method: "GET")
            var form = signed
            form["content-type"] = "application/x-www-form-urlencoded"
            try await hearing.expect(415, "payload=\(body)", form)
            form["content-type"] = nil
            try await hearing.expect(415, body, form)
            let large = String(repeating: " ", count: WebhookEndpoint.mostBytes + 1)
            try await hearing.expect(413, large, Delivery.github(large))
            let broken = "{\"repository\":"
            try await hearing.expect(400, broken, Delivery.github(broken))
            #expect(hearing.looks.count == 0 && hearing.inbox.empty().isEmpty)
            try await hearing.expect(202, body, signed)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a body without a length is bounded as well`() async throws {
        try await Hearing.open { hearing in
            let chunk = String(repeating: "a", count: 64 << 10)
            var request = "POST /hooks/hello HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            request += "transfer-encoding: chunked\r\n\r\n"
            for _ in 0..<20 { request += "10000\r\n\(chunk)\r\n" }
            let answer = try await Raw(port: hearing.port).send([request + "0\r\n\r\n"], pause: .zero)
            #expect(answer.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `whoever sends byte by byte is cut off, others are answered meanwhile`() async throws {
        try await Hearing.open(deadline: 5) { hearing in
            let start = "POST /hooks/hello HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            async let headers = Raw(port: hearing.port).send(
                Array(repeating: "x-a: b\r\n", count: 2_000).reduce([start]) { $0 + [$1] }, pause: .milliseconds(50))
            async let body = Raw(port: hearing.port).send(
                [start + "content-length: 9999\r\n\r\n"] + Array(repeating: "a", count: 2_000), pause: .milliseconds(50)
            )
            async let silence = Raw(port: hearing.port).send([], pause: .zero)
            let delivery = Delivery.pull()
            try await hearing.expect(202, delivery, Delivery.github(delivery))
            // Each of them would go on for 100 seconds.
            let clock = ContinuousClock()
            let began = clock.now
            _ = try await (headers, body, silence)
            #expect(clock.now - began < .seconds(60))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `headers are bounded`() async throws {
        try await Hearing.open { hearing in
            let long = "POST /hooks/hello HTTP/1.1\r\nhost: a\r\nx: \(String(repeating: "a", count: 100_000))\r\n\r\n"
            let answer = try await Raw(port: hearing.port).send([long], pause: .zero)
            #expect(!answer.hasPrefix("HTTP/1.1 2"))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `TLS with a certificate of one's own`() async throws {
        let folder = try TemporaryFolder()
        let (certificate, key) = ("\(folder.path)/cert.pem", "\(folder.path)/key.pem")
        let made = try Process.run(
            URL(filePath: "/usr/bin/env"),
            arguments: [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days",
                "1", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        made.waitUntilExit()
        try #require(made.terminationStatus == 0)
        try await Hearing.open(tls: (certificate, key)) { hearing in
            let body = Delivery.pull()
            try await hearing.expect(202, body, Delivery.github(body))
        }
        await #expect(throws: ListenError.self) {
            try await Hearing.open(tls: (key, certificate)) { _ in }
        }
    }

    /// 10,000 in the long form: `PIPECTL_WEBHOOKS=10000 script/test forges`.
    @Test(.timeLimit(.minutes(5)))
    func `a burst is answered at once, in bounded memory`() async throws {
        let count = Int(ProcessInfo.processInfo.environment["PIPECTL_WEBHOOKS"] ?? "") ?? 1_000
        try await Hearing.open { hearing in
            let before = Self.memory()
            let clock = ContinuousClock()
            let began = clock.now
            var times: [Duration] = []
            try await withThrowingTaskGroup(of: Duration.self) { group in
                var next = 0
                func add() {
                    let number = next
                    next += 1
                    group.addTask {
                        // As large as the deliveries of a forge are.
                        let body = Delivery.pull(
                            number % 40 + 1, title: "\(number)" + String(repeating: "x", count: 20_000))
                        let headers = Delivery.github(body, id: "\(number)")
                        let start = clock.now
                        let status = try await hearing.post(body, headers).status
                        guard status == 202 else { throw ForgeError(.badAnswer, "status \(status)") }
                        return clock.now - start
                    }
                }
                while next < min(count, 32) { add() }
                while let time = try await group.next() {
                    times.append(time)
                    if next < count { add() }
                }
            }
            let all = clock.now - began
            times.sort()
            let p99 = times[times.count * 99 / 100]
            let grown = Self.memory() - before
            print(
                "webhooks: \(count) in \(all), p50 \(times[times.count / 2]), p99 \(p99), max \(times[times.count - 1]), memory +\(grown >> 20) MiB"
            )
            #expect(hearing.looks.count == count)
            let contents = hearing.inbox.empty()
            #expect(contents.changes.count == 40 && !contents.isOverfull)
            #expect(grown < 256 << 20)
        }
    }

    /// Resident bytes of this process.
    private static func memory() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let parts = text.split(separator: " ")
        return parts.count > 1 ? (Int(parts[1]) ?? 0) * 4_096 : 0
    }
}

@Suite struct ListenTests {
    @Test func `addresses`() throws {
        #expect(try ListenAddress("8787").text == "127.0.0.1:8787")
        #expect(try ListenAddress("[::1]:8787").text == "[::1]:8787")
        #expect(try ListenAddress("hooks.example.org:443").isLoopback == false)
        for wrong in ["", ":", "a b:1", "host:", "host:70000", "host:-1", "1.2.3.4", "h\u{0}:1", "host:1e3"] {
            #expect(throws: ListenError.self) { try ListenAddress(wrong) }
        }
    }

    @Test func `other machines reach it with TLS only`() throws {
        #expect(throws: ListenError.self) { try ListenOptions(address: ListenAddress("0.0.0.0:8787")) }
        #expect(throws: ListenError.self) { try ListenOptions(address: ListenAddress("8787"), certificate: "c") }
        let open = try ListenOptions(
            address: ListenAddress("0.0.0.0:8787"), certificate: "c", key: "k", url: "https://ci.example.org/")
        #expect(open.hook(of: "a b") == "https://ci.example.org/hooks/a%20b")
        var settings = ListenSettings()
        #expect(try settings.options() == nil)
        settings.address = "8787"
        #expect(try settings.options()?.root == "http://127.0.0.1:8787")
    }

    @Test func `the form names the events that each forge has`() {
        for kind in ForgeKind.allCases {
            let form = WebhookForm(
                url: "u", secret: WebhookSecret(), kind: kind, credential: .token("a-token-of-a-test"))
            #expect(form.text.contains(form.secret.text) && form.events.count >= 3)
        }
    }
}

/// A connection that sends what a test wants, as slowly as it wants, and reads until the other end closes.
private struct Raw {
    let port: Int

    func send(_ parts: [String], pause: Duration) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: String?.self) { group in
                group.addTask {
                    for part in parts {
                        // It is the other end that decides when it has had enough.
                        do { try await outbound.write(ByteBuffer(string: part)) } catch { return nil }
                        try await Task.sleep(for: pause)
                    }
                    return nil
                }
                group.addTask {
                    var text = ""
                    do {
                        for try await part in inbound { text += String(buffer: part) }
                    } catch {}
                    return text
                }
                while let answer = try await group.next() {
                    guard let answer else { continue }
                    group.cancelAll()
                    return answer
                }
                return ""
            }
        }
    }
}
