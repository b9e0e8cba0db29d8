import Foundation
import SystemCalls
import TestBasics
import TestSupport
import Testing

@testable import Control

enum Ask: Codable, Sendable, Equatable {
    case echo(String)
    case count(Int, size: Int)
    case wait
    case fail(String)
    case refuse
}

enum Told: Codable, Sendable, Equatable {
    case text(String)
    case number(Int, String)
}

typealias TestServer = DaemonServer<Ask, Told>
typealias TestClient = DaemonClient<Ask, Told>

private struct Broken: Error, CustomStringConvertible {
    var description: String
}

@Sendable private func answer(_ ask: Ask, _ replies: Replies<Told>) async throws {
    switch ask {
    case .echo(let text): try await replies.send(.text(text))
    case .count(let count, let size):
        let filling = String(repeating: "x", count: size)
        for number in 0..<count { try await replies.send(.number(number, filling)) }
    case .wait: await untilCancelled()
    case .fail(let text): throw Broken(description: text)
    case .refuse: throw DaemonError(.busy, "Come back later.")
    }
}

/// Runs a server while `body` runs, and checks that it cleans up.
private func withServer(
    limits: DaemonLimits = DaemonLimits(), waits: @escaping @Sendable (Ask) -> Bool = { _ in false },
    handler: @escaping TestServer.Handler = answer,
    _ body: @Sendable @escaping (String) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let path = folder + "/d.sock"
        let server = TestServer(path: path, limits: limits, waits: waits, handler: handler)
        let listening = Happening()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.happens() }
                try await server.run { listening.happens() }
            }
            try await listening.wait()
            do { try await body(path) } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

/// Sends bytes, not requests.
private struct RawClient {
    let socket: StreamSocket
    let reader: LineReader

    init(_ path: String) throws {
        socket = try StreamSocket.make()
        try #require(socket.connect(to: path) == 0)
        reader = LineReader(socket, limit: 1 << 24)
    }

    func write(_ text: String) async throws { try await socket.write(Array(text.utf8)) }

    /// The error in the next line, which must be the last one.
    func lastError() async throws -> DaemonError? {
        guard case .line(let line) = try await reader.next() else { return nil }
        let answer: Envelope.Answer<Told> = try Envelope.answer(line)
        #expect(try await reader.next() == .end(cut: false))
        return answer.error
    }

    func reply() async throws -> Told? {
        guard case .line(let line) = try await reader.next() else { return nil }
        let answer: Envelope.Answer<Told> = try Envelope.answer(line)
        return answer.reply
    }
}

private func line(_ ask: Ask) throws -> [UInt8] { try Envelope.line(Envelope.Question(request: ask)) }

@Suite("Daemon socket") struct DaemonSocketTests {
    @Test(.timeLimit(.minutes(5))) func `several requests share one connection`() async throws {
        try await withServer { path in
            let client = try await TestClient.connect(path: path)
            for text in [
                "hello", "line\nbreak \u{2028} \u{0} \u{1b}[31m", "ü😀", String(repeating: "long", count: 100_000),
            ] {
                #expect(try await client.ask(.echo(text)) == .text(text))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `only the owner can reach the socket`() async throws {
        try await withServer { path in
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let client = try RawClient(path)
            #expect(client.socket.peerUser == geteuid())
        }
    }

    @Test(.timeLimit(.minutes(5))) func `ten thousand replies arrive in order`() async throws {
        try await withServer { path in
            let client = try await TestClient.connect(path: path)
            var next = 0
            for try await case .number(let number, _) in try await client.send(.count(10_000, size: 20)) {
                try #require(number == next)
                next += 1
            }
            #expect(next == 10_000)
            #expect(try await client.ask(.echo("still here")) == .text("still here"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `fifty clients are served at the same time`() async throws {
        try await withServer { path in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<50 {
                    group.addTask {
                        let client = try await TestClient.connect(path: path)
                        for round in 0..<10 {
                            #expect(try await client.ask(.echo("\(index) \(round)")) == .text("\(index) \(round)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `one client can have several requests at the same time`() async throws {
        try await withServer { path in
            let client = try await TestClient.connect(path: path)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        let told = try await client.ask(.echo("\(index)"))
                        #expect(told == .text("\(index)"))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `pipelined requests are answered in order`() async throws {
        try await withServer { path in
            let client = try RawClient(path)
            try await client.socket.write(try line(.echo("1")) + line(.echo("2")) + line(.echo("3")))
            for text in ["1", "2", "3"] {
                #expect(try await client.reply() == .text(text))
                #expect(try await client.reply() == nil)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a client that closed its sending side still gets the answer`() async throws {
        let cancelled = Happening()
        let handler: TestServer.Handler = { ask, replies in
            if ask == .wait {
                try await replies.send(.text("waiting"))
                await untilCancelled()
                cancelled.happens()
            } else {
                try await answer(ask, replies)
            }
        }
        try await withServer(handler: handler) { path in
            // Like `echo … | socat - UNIX-CONNECT:…`: the second request arrives before the first is answered.
            var client: RawClient? = try RawClient(path)
            try await client?.socket.write(try line(.echo("one")) + line(.wait))
            client?.socket.endWriting()
            #expect(try await client?.reply() == .text("one"))
            #expect(try await client?.reply() == nil)
            #expect(try await client?.reply() == .text("waiting"))
            client?.socket.close()
            client = nil
            try await cancelled.wait()
        }
    }

    // MARK: Errors

    @Test(.timeLimit(.minutes(5))) func `errors of the handler reach the client`() async throws {
        try await withServer { path in
            let client = try await TestClient.connect(path: path)
            await #expect(throws: DaemonError(.failed, "no such run")) { try await client.ask(.fail("no such run")) }
            await #expect(throws: DaemonError(.busy, "Come back later.")) { try await client.ask(.refuse) }
            #expect(try await client.ask(.echo("fine")) == .text("fine"))
        }
    }

    static let garbage = [
        "an empty line": "", "text": "hello", "an empty object": "{}", "null": "null", "half an array": "[1,2",
        "no request": "{\"version\":1}", "a version that is text": "{\"version\":\"x\",\"request\":{}}",
        "an unknown request": "{\"version\":1,\"request\":{\"nothing\":{}}}",
        "hostile keys": "{\"version\":1,\"request\":{\"\u{1b}]0;x\u{7}\":{}}}",
        "control characters": "\u{0}\u{1}\u{1b}]0;x\u{7}", "another protocol": "GET / HTTP/1.1\r",
        "a deep nest": String(repeating: "[", count: 100_000),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: garbage.keys.sorted())
    func `invalid bytes get one line with an error`(_ kind: String) async throws {
        let garbage = try #require(Self.garbage[kind])
        try await withServer { path in
            let client = try RawClient(path)
            try await client.write(garbage + "\n")
            let error = try #require(try await client.lastError())
            #expect(error.code == .badRequest)
            #expect(error.message.contains("Send one JSON object per line"))
            #expect(error.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
        }
    }

    @Test(.timeLimit(.minutes(5))) func `another protocol version is named`() async throws {
        try await withServer { path in
            for text in [
                "{\"version\":99,\"request\":{\"echo\":{\"_0\":\"x\"}}}\n", "{\"version\":99,\"later\":true}\n",
            ] {
                let client = try RawClient(path)
                try await client.write(text)
                let error = try #require(try await client.lastError())
                #expect(error.code == .otherVersion)
                #expect(error.message.contains("version 1 ") && error.message.contains("version 99"))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a request over one mebibyte is refused`() async throws {
        try await withServer { path in
            let client = try await TestClient.connect(path: path)
            let error = await #expect(throws: DaemonError.self) {
                try await client.ask(.echo(String(repeating: "x", count: 3 << 20)))
            }
            #expect(error?.code == .tooLarge)
            let text = String(repeating: "x", count: 1_000_000)
            #expect(try await client.ask(.echo(text)) == .text(text))
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["", "{\"version\":1,\"req"])
    func `a client that sends nothing is disconnected`(_ beginning: String) async throws {
        var limits = DaemonLimits()
        // Whoever sends in time must not meet it on a busy machine.
        limits.requestDeadline = .seconds(3)
        try await withServer(limits: limits) { path in
            let client = try RawClient(path)
            try await client.write(beginning)
            #expect(try await client.lastError()?.code == .timedOut)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `silence between requests is allowed`() async throws {
        var limits = DaemonLimits()
        // Whoever sends in time must not meet it on a busy machine.
        limits.requestDeadline = .seconds(3)
        try await withServer(limits: limits) { path in
            let client = try RawClient(path)
            try await client.socket.write(try line(.echo("1")))
            #expect(try await client.reply() == .text("1"))
            #expect(try await client.reply() == nil)
            // Another client's deadline serves as the clock: this client has been silent for longer by then.
            let other = try RawClient(path)
            #expect(try await other.lastError()?.code == .timedOut)
            try await client.socket.write(try line(.echo("2")))
            #expect(try await client.reply() == .text("2"))
            #expect(try await client.reply() == nil)
            try await client.write("{")
            #expect(try await client.lastError()?.code == .timedOut)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `half a line at the end is told from a whole one`() async throws {
        try await withServer { path in
            let client = try RawClient(path)
            try await client.write("{\"version\":1")
            client.socket.endWriting()
            #expect(try await client.lastError()?.code == .badRequest)
        }
    }

    /// Reports its start, and waits until its client leaves.
    @Sendable private static func waiting(_ ask: Ask, _ replies: Replies<Told>) async throws {
        guard ask == .wait else { return try await answer(ask, replies) }
        try await replies.send(.text("started"))
        await untilCancelled()
    }

    private func waiter(_ path: String) async throws -> RawClient {
        let client = try RawClient(path)
        try await client.socket.write(try line(.wait))
        #expect(try await client.reply() == .text("started"))
        return client
    }

    @Test(.timeLimit(.minutes(5))) func `a client above the limit is told so`() async throws {
        var limits = DaemonLimits()
        limits.connections = 3
        try await withServer(limits: limits, handler: Self.waiting) { path in
            var clients: [RawClient] = []
            for _ in 0..<3 { clients.append(try await waiter(path)) }
            let client = try await TestClient.connect(path: path)
            let error = await #expect(throws: DaemonError.self) { try await client.ask(.echo("x")) }
            #expect(error?.code == .busy)
            clients.removeLast().socket.close()
            // The connection is free once the server has noticed the other's end.
            while true {
                do {
                    #expect(try await client.ask(.echo("x")) == .text("x"))
                    break
                } catch let error as DaemonError where error.code == .busy {
                    await Task.yield()
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["", "{\"version\":1,\"req", "whole"])
    func `a silent client gives way to one with a request`(_ beginning: String) async throws {
        var limits = DaemonLimits()
        limits.connections = 3
        try await withServer(limits: limits, handler: Self.waiting) { path in
            let busy = try await waiter(path)
            var silent: [RawClient] = []
            for _ in 0..<10 {
                let client = try RawClient(path)
                if beginning == "whole" {
                    // Silent after its request, which is allowed as long as no other client needs the connection.
                    try await client.socket.write(try line(.echo("in")))
                    #expect(try await client.reply() == .text("in"))
                    #expect(try await client.reply() == nil)
                } else {
                    try await client.write(beginning)
                }
                silent.append(client)
            }
            for text in ["1", "2", "3"] {
                let client = try await TestClient.connect(path: path)
                #expect(try await client.ask(.echo(text)) == .text(text))
            }
            #expect(try await silent[0].lastError()?.code == .busy)
            // A client that is being answered keeps its connection.
            #expect(!busy.socket.hasHungUp)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `waiting requests leave connections for others`() async throws {
        var limits = DaemonLimits()
        (limits.connections, limits.waiting) = (4, 2)
        try await withServer(limits: limits, waits: { $0 == .wait }, handler: Self.waiting) { path in
            var clients = [try await waiter(path), try await waiter(path)]
            for _ in 0..<3 {
                let refused = try RawClient(path)
                try await refused.socket.write(try line(.wait))
                #expect(try await refused.lastError()?.code == .busy)
            }
            let client = try await TestClient.connect(path: path)
            #expect(try await client.ask(.echo("x")) == .text("x"))
            clients.removeLast().socket.close()
            while true {
                let next = try RawClient(path)
                try await next.socket.write(try line(.wait))
                if try await next.reply() == .text("started") { break }
            }
        }
    }

    // MARK: Who comes and goes

    @Test(.timeLimit(.minutes(5))) func `a client that leaves cancels the handler`() async throws {
        let (started, cancelled) = (Happening(), Happening())
        let handler: TestServer.Handler = { _, replies in
            try await replies.send(.text("started"))
            started.happens()
            await untilCancelled()
            cancelled.happens()
        }
        try await withServer(handler: handler) { path in
            let client = try await TestClient.connect(path: path)
            for try await _ in try await client.send(.wait) { break }
            try await started.wait()
            try await cancelled.wait()
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a cancelled client cancels the handler`() async throws {
        let (started, cancelled) = (Happening(), Happening())
        let handler: TestServer.Handler = { _, _ in
            started.happens()
            await untilCancelled()
            cancelled.happens()
        }
        try await withServer(handler: handler) { path in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await TestClient.connect(path: path).ask(.wait) }
                try? await started.wait()
                group.cancelAll()
            }
            try await cancelled.wait()
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a client that does not read delays nobody`() async throws {
        let sent = Count()
        let stalled = Happening()
        let handler: TestServer.Handler = { ask, replies in
            guard case .count(let count, _) = ask else { return try await answer(ask, replies) }
            for number in 0..<count {
                if number == 50 { stalled.happens() }
                try await replies.send(.number(number, String(repeating: "x", count: 1000)))
                sent.add()
            }
        }
        try await withServer(handler: handler) { path in
            let lazy = try RawClient(path)
            try await lazy.socket.write(try line(.count(100_000, size: 1000)))
            try await stalled.wait()
            let client = try await TestClient.connect(path: path)
            for _ in 0..<1000 { #expect(try await client.ask(.echo("quick")) == .text("quick")) }
            // 100 MB were requested; only the kernel's buffers are filled.
            #expect(sent.value < 5000)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `clients are told that the server stops`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/d.sock"
            let (listening, started) = (Happening(), Happening())
            let server = TestServer(path: path) { _, replies in
                try await replies.send(.text("started"))
                started.happens()
                await untilCancelled()
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await server.run { listening.happens() } }
                try? await listening.wait()
                let client = try? await TestClient.connect(path: path)
                let replies = try? await client?.send(.wait)
                try? await started.wait()
                group.cancelAll()
                let error = await #expect(throws: DaemonError.self) {
                    if let replies { for try await _ in replies {} }
                }
                #expect(error?.code == .stopping)
                await group.waitForAll()
                let late = await #expect(throws: DaemonError.self) { try await client?.ask(.echo("late")) }
                #expect(late?.code == .notRunning)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `replies of many tasks do not mix`() async throws {
        let handler: TestServer.Handler = { _, replies in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { try await replies.send(.number(number, String(repeating: "y", count: 20_000))) }
                }
                try await group.waitForAll()
            }
        }
        try await withServer(handler: handler) { path in
            let client = try await TestClient.connect(path: path)
            var numbers: Set<Int> = []
            for try await case .number(let number, let text) in try await client.send(.wait) {
                #expect(text.utf8.count == 20_000)
                numbers.insert(number)
            }
            #expect(numbers.count == 200)
        }
    }

    // MARK: The socket file

    @Test(.timeLimit(.minutes(5))) func `without a daemon the error says so`() async throws {
        try await withTemporaryFolder { folder in
            for path in [folder + "/none.sock", folder + "/no/folder.sock"] {
                let error = await #expect(throws: DaemonError.self) { try await TestClient.connect(path: path) }
                #expect(error?.code == .notRunning)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a stale socket is replaced`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/d.sock"
            do {
                let dead = try StreamSocket.make()
                try #require(dead.bind(to: path) == 0)
            }
            let error = await #expect(throws: DaemonError.self) { try await TestClient.connect(path: path) }
            #expect(error?.code == .notRunning)
            let listening = Happening()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await TestServer(path: path, handler: answer).run { listening.happens() } }
                try await listening.wait()
                #expect(try await TestClient.connect(path: path).ask(.echo("new")) == .text("new"))
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a second server is refused`() async throws {
        try await withServer { path in
            let error = await #expect(throws: DaemonError.self) {
                try await TestServer(path: path, handler: answer).run()
            }
            #expect(error?.code == .alreadyRunning)
            let told = try await TestClient.connect(path: path).ask(.echo("first"))
            #expect(told == .text("first"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `of many servers that start over a stale socket one serves`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/d.sock"
            do {
                let dead = try StreamSocket.make()
                try #require(dead.bind(to: path) == 0)
            }
            let (served, refused) = (Count(), Count())
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            try await TestServer(path: path, handler: answer).run { served.add() }
                        } catch {
                            #expect((error as? DaemonError)?.code == .alreadyRunning)
                            refused.add()
                        }
                    }
                }
                for _ in 0..<7 { await group.next() }
                group.cancelAll()
            }
            #expect(served.value == 1)
            #expect(refused.value == 7)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a file that is not a socket is left alone`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/d.sock"
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            let error = await #expect(throws: DaemonError.self) {
                try await TestServer(path: path, handler: answer).run()
            }
            #expect(error?.code == .socket)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            let long = folder + "/" + String(repeating: "x", count: 120)
            let tooLong = await #expect(throws: DaemonError.self) {
                try await TestServer(path: long, handler: answer).run()
            }
            #expect(tooLong?.code == .socket)
        }
    }

    // MARK: Anything at all

    @Test(.timeLimit(.minutes(5)), arguments: [1, 20_261_121] as [UInt64])
    func `random bytes never stop the server`(_ seed: UInt64) async throws {
        var limits = DaemonLimits()
        limits.requestLine = 4096
        limits.requestDeadline = .milliseconds(50)
        try await withServer(limits: limits) { path in
            var random = SplitMix64(seed: seed)
            let pieces = try [line(.echo("ok")), line(.count(50, size: 500)), Array("{\"version\":".utf8), line(.wait)]
            let end = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < end {
                let client = try RawClient(path)
                // A client that waits for an answer must not request to wait for ever.
                let reads = Int.random(in: 0..<4, using: &random) == 0
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    var bytes: [UInt8]
                    if Bool.random(using: &random) {
                        bytes = pieces.dropLast(reads ? 1 : 0).randomElement(using: &random) ?? []
                        if !bytes.isEmpty, Bool.random(using: &random) {
                            bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                        }
                    } else {
                        bytes = (0..<Int.random(in: 0...6000, using: &random)).map { _ in
                            .random(in: 0...255, using: &random)
                        }
                    }
                    // The server may have closed the connection already, as it should.
                    try? await client.socket.write(bytes)
                }
                if Bool.random(using: &random) { client.socket.endWriting() }
                if reads { _ = try await client.reader.next() }
                client.socket.close()
            }
            // The short deadline binds a client that sends at once as well, on a busy machine.
            try await eventually("an answer") {
                (try? await TestClient.connect(path: path).ask(.echo("alive"))) == .text("alive")
            }
        }
    }
}

extension StreamSocket {
    /// Ends our direction only: the other side reads the end and may still answer.
    fileprivate func endWriting() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }
}
