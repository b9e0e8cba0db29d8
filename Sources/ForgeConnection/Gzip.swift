import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Compresses bytes as gzip (RFC 1952), with the library that compresses HTTP. The same bytes give the same result.
package enum Gzip {
    package static func compress(_ bytes: [UInt8]) throws -> [UInt8] {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(NIOHTTPRequestCompressor(encoding: .gzip))
        channel.write(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        var compressed: [UInt8] = []
        while let part = try channel.readOutbound(as: HTTPClientRequestPart.self) {
            if case .body(.byteBuffer(let buffer)) = part { compressed += buffer.readableBytesView }
        }
        _ = try channel.finish(acceptAlreadyClosed: true)
        return compressed
    }
}
