@testable import Control
import Foundation
import SystemCalls
import TestBasics
import TestSupport

@testable import Results

extension FuzzTarget {
    static let sockets: [FuzzTarget] = [
        .pure("request", isJSON: true, limit: 256 << 10, corpus: requestCorpus) { bytes, _ in
            try checkRequest(bytes)
        },
        FuzzTarget(name: "lines", corpus: requestCorpus, words: ["\n", "\n\n", "\r\n"], limit: 64 << 10) { loop in
            try await loop { input, random in try await checkLines(input.bytes, &random) }
        },
        FuzzTarget(name: "daemon", corpus: requestCorpus, words: ["\n"], isJSON: true, limit: 128 << 10) { loop in
            try await withFuzzFolder { folder in try await withDaemon(at: folder + "/d.sock", loop) }
        },
    ]

    @Sendable private static func requestCorpus() throws -> [[UInt8]] {
        let requests: [DaemonRequest] = [
            .status, .look(path: "/srv/r.git"), .follow(7), .cancel(7, reason: "by hand"), .run(1), .verifyArchive,
            .rerun(RerunRequest(run: 7)), .pushArchive(remote: "backup"),
            .proofs, .trustProofs(step: "build", repository: nil),
            .why(StartRequest(location: ".", workflow: "test", subject: .revision("main"))),
            .start(StartRequest(location: ".", workflow: "test", subject: .change("7"), parameters: ["a": "b"])),
            .runs(RunsQuery(states: [], verdicts: [.failed], since: Date(timeIntervalSince1970: 1), limit: 5)),
        ]
        return try requests.map { try Envelope.line(Envelope.Question(request: $0)) }
    }

    private static func checkRequest(_ bytes: [UInt8]) throws {
        do throws(DaemonError) {
            let request: DaemonRequest = try Envelope.question(bytes)
            // A request that was understood is understood again when it is encoded.
            guard let line = try? Envelope.line(Envelope.Question(request: request)) else { return }
            let _: DaemonRequest = try Envelope.question(line)
        } catch {
            try hold(error)
        }
        do throws(DaemonError) { let _: Envelope.Answer<DaemonReply> = try Envelope.answer(bytes) } catch {
            try hold(error)
        }
    }

    /// An error for a client is safe for a terminal, whatever text it quotes.
    private static func hold(_ error: DaemonError) throws {
        try demand([.badRequest, .otherVersion].contains(error.code), "the error \(error.code.rawValue)")
        try demand(error.message.utf8.count < 2_000, "a message of \(error.message.utf8.count) bytes")
        try demand(
            error.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F },
            "a message with \(error.message.debugDescription)")
    }

    private static func checkLines(_ bytes: [UInt8], _ random: inout SplitMix64) async throws {
        var pair: [Int32] = [-1, -1]
        try demand(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0, "no sockets: \(errno)")
        let (ours, theirs) = (StreamSocket(adopting: pair[0]), StreamSocket(adopting: pair[1]))
        defer {
            ours.close()
            theirs.close()
        }
        let limit = random.pick([1, 10, 1_000, 1 << 20])
        var chunks: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            chunks.append(Array(rest.prefix(1 + random.below(1 << random.below(16)))))
            rest = rest.dropFirst(chunks.last?.count ?? 0)
        }
        async let written: Void = write(chunks, to: theirs)
        let reader = LineReader(ours, limit: limit)
        var wanted = bytes[...]
        reading: while true {
            switch try await reader.next() {
            case .line(let line):
                let end = wanted.firstIndex(of: 0x0A)
                try demand(end != nil && Array(wanted[..<(end ?? 0)]) == line, "another line than was sent")
                try demand(line.count <= limit, "a line of \(line.count) bytes where \(limit) are allowed")
                wanted = wanted[((end ?? 0) + 1)...]
            case .tooLong:
                try demand((wanted.firstIndex(of: 0x0A) ?? wanted.endIndex) - wanted.startIndex > limit, "not too long")
                break reading
            case .end(let cut):
                try demand(cut == !wanted.isEmpty && !wanted.contains(0x0A), "the end came with lines left")
                break reading
            }
        }
        ours.close()
        await written
    }

    private static func write(_ chunks: [[UInt8]], to socket: StreamSocket) async {
        for chunk in chunks {
            guard (try? await socket.write(chunk)) != nil else { return }
        }
        socket.endWriting()
    }

    private static func withDaemon(at path: String, _ loop: (Check) async throws -> Void) async throws {
        var limits = DaemonLimits()
        limits.requestLine = 32 << 10
        let server = DaemonServer<DaemonRequest, DaemonReply>(path: path, limits: limits) { request, replies in
            if case .cancel = request { throw DaemonError(.failed, "no such run") }
            for _ in 0..<3 { try await replies.send(.completed(.trusted(step: "heard"))) }
        }
        let (listening, continuation) = AsyncStream<Void>.makeStream()
        // It is cancelled and awaited before this returns.
        async let _: Void = {
            defer { continuation.finish() }
            try await server.run { continuation.finish() }
        }()
        for await _ in listening {}
        try await loop { input, random in
            let client = HostileClient(
                bytes: input.bytes, piece: 1 + random.below(1 << random.below(16)), leavesAtOnce: random.once(in: 4))
            try await client.visit(path)
            // The next client is served normally.
            let next = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path)
            guard case .completed(.trusted(step: "heard"))? = try await next.ask(.status) else {
                throw FuzzViolation("the next client got no answer")
            }
        }
    }
}

/// Sends arbitrary bytes, and reads until the daemon closes the connection.
struct HostileClient: Sendable {
    let bytes: [UInt8]
    let piece: Int
    let leavesAtOnce: Bool

    func visit(_ path: String) async throws {
        let socket = try StreamSocket.make()
        defer { socket.close() }
        try demand(socket.connect(to: path) == 0, "the daemon takes no connection: \(errno)")
        async let sent: Void = send(over: socket)
        if leavesAtOnce {
            await sent
            return
        }
        let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await read(socket)
                return true
            }
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        socket.close()
        await sent
        try demand(answered, "the daemon keeps a client that is done for 30 seconds")
    }

    private func send(over socket: StreamSocket) async {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard (try? await socket.write(Array(rest.prefix(piece)))) != nil else { return }
            rest = rest.dropFirst(piece)
        }
        socket.endWriting()
    }

    private func read(_ socket: StreamSocket) async throws {
        let reader = LineReader(socket, limit: 1 << 20)
        while true {
            let next: LineReader.Line
            // A daemon that has refused the client may reset the connection while it still sends.
            do { next = try await reader.next() } catch { return }
            guard case .line(let line) = next else { return }
            let answer: Envelope.Answer<DaemonReply> = try Envelope.answer(line)
            if let error = answer.error {
                try demand(error.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "unfit for a terminal: \(error)")
            }
        }
    }
}

extension StreamSocket {
    /// Ends our direction only: the other side reads the end and may still answer.
    fileprivate func endWriting() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }
}
