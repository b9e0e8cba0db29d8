import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A forge on loopback that answers as a test wants, and keeps what it was asked.
package final class ForgeDouble: Sendable {
    /// A request as it came.
    package struct Asked: Sendable {
        package var method: String
        package var path: String
        package var headers: [String: String]
        package var body: String
        /// The texts of a JSON object.
        package var json: [String: String] {
            ((try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]).compactMapValues {
                $0 as? String
            }
        }
    }

    /// What it answers.
    package enum Answer: Sendable {
        case json(Int, String, headers: [String: String] = [:])
        /// The connection ends without an answer.
        case cut
        /// No answer ever comes.
        case silence
    }

    private let asked = Mutex<[Asked]>([])
    private let group = MultiThreadedEventLoopGroup.singleton
    private let channel: any Channel
    /// The root of the server, without a slash at the end.
    package let url: String

    /// All requests so far, in the order in which they came.
    package var requests: [Asked] { asked.withLock { $0 } }

    package init(_ answer: @escaping @Sendable (Asked) -> Answer) async throws {
        let asked = Mutex<(@Sendable (Asked) -> Void)?>(nil)
        let keep = Keep(asked: { request in asked.withLock { $0 }?(request) }, answer: answer)
        channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(keep))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
        asked.withLock { $0 = { [weak self] request in self?.asked.withLock { $0.append(request) } } }
    }

    package func close() async throws { try await channel.close() }

    private struct Keep: Sendable {
        var asked: @Sendable (Asked) -> Void
        var answer: @Sendable (Asked) -> Answer
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let keep: Keep
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ keep: Keep) { self.keep = keep }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, "")
            case .body(let part): body += String(buffer: part)
            case .end: answer(context)
            }
        }

        private func answer(_ context: ChannelHandlerContext) {
            guard let head else { return }
            var headers: [String: String] = [:]
            for (name, value) in head.headers { headers[name.lowercased()] = value }
            let request = Asked(method: head.method.rawValue, path: head.uri, headers: headers, body: body)
            keep.asked(request)
            switch keep.answer(request) {
            case .silence: return
            case .cut: context.close(promise: nil)
            case .json(let status, let text, let more):
                var response = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status))
                response.headers.add(name: "content-type", value: "application/json")
                response.headers.add(name: "content-length", value: "\(text.utf8.count)")
                for (name, value) in more { response.headers.add(name: name, value: value) }
                context.write(wrapOutboundOut(.head(response)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
