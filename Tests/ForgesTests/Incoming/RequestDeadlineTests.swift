import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Listening

/// How long a request may take, by a clock that the tests turn.
@Suite struct RequestDeadlineTests {
    private static func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(RequestDeadline(seconds: 10))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/tasks")
        try channel.writeInbound(HTTPRequestPart.head(head))
        return channel
    }

    @Test func `a large body has the time for each part of it`() throws {
        let channel = try Self.channel()
        for _ in 0..<5 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(8))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0, count: 256 << 10)))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(11))
        #expect(!channel.isActive)
    }

    @Test func `a body that drips does not`() throws {
        let channel = try Self.channel()
        for _ in 0..<11 where channel.isActive {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            if channel.isActive {
                try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0, count: 1_000)))
            }
        }
        #expect(!channel.isActive)
    }

    @Test func `a body that has arrived is not cut off while it is answered`() throws {
        let channel = try Self.channel()
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0, count: 300 << 10)))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
