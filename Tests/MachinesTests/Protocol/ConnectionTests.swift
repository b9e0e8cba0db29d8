import Concurrency
import Foundation
import Synchronization
import SystemCalls
import TestBasics
import Testing

@testable import MachineProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Both sides of a connection in one process.
@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
    /// Two connected sockets.
    private func pair() throws -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    private func client(_ end: Descriptor, silence: Duration = .seconds(30)) throws -> MachineConnection {
        let made = MachineConnection(input: end, output: end, silence: silence)
        try made.start()
        return made
    }

    private func server(
        _ end: Descriptor, _ serve: @escaping @Sendable (Exchange, String) throws -> Void
    ) throws -> MachineConnection {
        let made = MachineConnection(
            input: end, output: end, silence: .seconds(30),
            onRequest: { exchange, bytes in
                _ = startThread { try? serve(exchange, (try? Wire.value(String.self, from: bytes)) ?? "") }
            })
        try made.start()
        return made
    }

    private func reply(of exchange: Exchange) throws -> (data: Int, reply: String) {
        var data = 0
        while true {
            switch try exchange.next() {
            case .data(let bytes): data += bytes.count
            case .reply(let bytes): return (data, try Wire.value(String.self, from: bytes))
            case .note, .endOfData: continue
            }
        }
    }

    @Test func `a sender stops when the other side has replied without reading on`() async throws {
        let (one, other) = try pair()
        let serving = try server(other) { exchange, _ in try exchange.reply("no") }
        let client = try client(one)
        try await onOwnThread {
            let exchange = try client.begin("send")
            #expect(throws: Exchange.Dropped.self) {
                try exchange.send([UInt8](repeating: 7, count: 3 * Exchange.window))
            }
            let end = try self.reply(of: exchange)
            #expect(end.reply == "no")
            exchange.finish()
        }
        client.close(ConnectionEnd(.ended, "is over"))
        serving.close(ConnectionEnd(.ended, "is over"))
    }

    @Test func `many exchanges go on at once`() async throws {
        let (one, other) = try pair()
        let serving = try server(other) { exchange, name in
            try exchange.send(Array(repeating: 1, count: 3 * Exchange.window))
            try exchange.reply(name)
        }
        let client = try client(one)
        try await withThrowingTaskGroup(of: (String, Int, String).self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await onOwnThread {
                        let exchange = try client.begin("\(number)")
                        let end = try self.reply(of: exchange)
                        return ("\(number)", end.data, end.reply)
                    }
                }
            }
            for try await (name, data, answer) in group {
                #expect(name == answer && data == 3 * Exchange.window)
            }
        }
        client.close(ConnectionEnd(.ended, "is over"))
        serving.close(ConnectionEnd(.ended, "is over"))
    }

    @Test func `a sender waits for a slow receiver, and others do not wait for it`() async throws {
        let (one, other) = try pair()
        let sent = Mutex(0)
        let serving = try server(other) { exchange, name in
            for _ in 0..<(name == "long" ? 64 : 0) {
                try exchange.send(Array(repeating: 1, count: 1 << 16))
                sent.withLock { $0 += 1 << 16 }
            }
            try exchange.reply(name)
        }
        let client = try client(one)
        try await onOwnThread {
            let slow = try client.begin("long")
            // Only when this one was answered the first has certainly been sent what it may be sent.
            for _ in 0..<50 { #expect(try self.reply(of: client.begin("short")).reply == "short") }
            #expect(sent.withLock { $0 } <= Exchange.window)
            #expect(try self.reply(of: slow).data == 64 << 16)
        }
        client.close(ConnectionEnd(.ended, "is over"))
        serving.close(ConnectionEnd(.ended, "is over"))
    }

    @Test func `who sends more than it may ends the connection`() async throws {
        let (one, other) = try pair()
        let client = try client(one)
        let exchange = try client.begin("anything")
        let piece = Frame(.data, exchange: exchange.number, content: Array(repeating: 0, count: 1 << 18)).bytes
        // Nothing is taken meanwhile, so no credit is given.
        try await onOwnThread {
            other.use { file in for _ in 0..<8 where client.end == nil { _ = QuietWrite.all(piece, to: file) } }
        }
        try await eventually("the connection ends") { client.end != nil }
        withExtendedLifetime(exchange) {}
        #expect(client.end?.kind == .wrongFrame)
    }

    @Test(arguments: [
        Flood(.reply, count: 2), Flood(.note, count: 1_001), Flood(.endOfData, count: 1_001),
        Flood(.note, bytes: 1 << 20, count: 10),
    ]) func `who sends more messages than may wait ends the connection`(_ flood: Flood) async throws {
        let (one, other) = try pair()
        let client = try client(one)
        let exchange = try client.begin("anything")
        let header = [UInt8](repeating: 0, count: flood.bytes)
        let message = Frame(flood.kind, exchange: exchange.number, header: header).bytes
        try await onOwnThread {
            other.use { file in
                for _ in 0..<flood.count where client.end == nil { _ = QuietWrite.all(message, to: file) }
            }
        }
        try await eventually("the connection ends") { client.end != nil }
        withExtendedLifetime(exchange) {}
        #expect(client.end?.kind == .wrongFrame)
    }

    @Test func `small pieces of data that wait are one`() async throws {
        let (one, other) = try pair()
        let client = try client(one)
        let exchange = try client.begin("anything")
        let number = exchange.number
        let piece = Frame(.data, exchange: number, content: [7]).bytes + Frame(.data, exchange: number).bytes
        let pieces = Array(repeatElement(piece, count: 5_000).joined())
        let (second, last) = (try client.begin("more"), Frame(.reply, exchange: number).bytes)
        try await onOwnThread {
            let end = Frame(.reply, exchange: second.number).bytes
            other.use { _ = QuietWrite.all(pieces + last + end, to: $0) }
            // When the second reply is there, all that came before it is.
            _ = try second.next()
            guard case .data(let bytes) = try exchange.next() else { Issue.record("no data"); return }
            #expect(bytes == [UInt8](repeating: 7, count: 5_000))
            guard case .reply = try exchange.next() else { Issue.record("no reply"); return }
        }
        #expect(client.end == nil)
        client.close(ConnectionEnd(.ended, "is over"))
    }

    @Test(arguments: [false, true])
    func `a question about which nothing happens ends the connection`(_ sends: Bool) async throws {
        let (one, other) = try pair()
        // It lives, and says so.
        let isAsked = Mutex(false)
        let serving = try server(other) { _, _ in isAsked.withLock { $0 = true } }
        let client = try client(one)
        let end: ConnectionEnd? = try await onOwnThread {
            // The limit may shrink while it is waited for.
            let exchange = try client.begin(
                "anything", patience: { isAsked.withLock { $0 } ? .zero : .seconds(3_600) })
            do {
                if sends { try exchange.send([UInt8](repeating: 7, count: 2 * Exchange.window)) }
                _ = try exchange.next()
                return nil
            } catch { return error as? ConnectionEnd }
        }
        #expect(end?.kind == .silent && client.end == end)
        serving.close(ConnectionEnd(.ended, "is over"))
    }

    @Test func `who is silent ends the connection`() async throws {
        let (one, other) = try pair()
        let client = try client(one, silence: .seconds(1))
        let exchange = try client.begin("anything")
        let end: ConnectionEnd? = try await onOwnThread {
            do {
                _ = try exchange.next()
                return nil
            } catch { return error as? ConnectionEnd }
        }
        #expect(end?.kind == .silent)
        withExtendedLifetime(other) {}
    }

    @Test func `signs of life keep the connection`() async throws {
        let (one, other) = try pair()
        let client = try client(one, silence: .seconds(5))
        let serving = MachineConnection(
            input: other, output: other, silence: .seconds(5),
            onRequest: { exchange, _ in
                _ = startThread {
                    usleep(12_000_000)
                    try? exchange.reply("late")
                }
            })
        try serving.start()
        let answer = try await onOwnThread { try self.reply(of: client.begin("slow")).reply }
        #expect(answer == "late")
        client.close(ConnectionEnd(.ended, "is over"))
        serving.close(ConnectionEnd(.ended, "is over"))
    }

    @Test func `a greeting is found behind what a shell prints`() async throws {
        let (one, other) = try pair()
        async let theirs: String = onOwnThread {
            _ = other.use { QuietWrite.all(Array("Welcome!\npipectl-agent strea\n".utf8), to: $0) }
            return try Handshake.greet("agent", input: other, output: other, within: .seconds(20)).greeting
        }
        let ours: String = try await onOwnThread {
            try Handshake.greet("daemon", input: one, output: one, within: .seconds(20)).greeting
        }
        #expect(ours == "agent")
        #expect(try await theirs == "daemon")
    }
}

/// Equal messages that nobody takes.
struct Flood: Sendable, CustomTestStringConvertible {
    let kind: Frame.Kind
    let bytes: Int
    let count: Int
    var testDescription: String { "\(count) × \(kind) of \(bytes) bytes" }

    init(_ kind: Frame.Kind, bytes: Int = 0, count: Int) { (self.kind, self.bytes, self.count) = (kind, bytes, count) }
}
