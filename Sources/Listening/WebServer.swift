import HTTPTypes
public import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL
public import ServiceLifecycle

/// Answers HTTP until its group shuts down.
///
/// It bounds what others can make it hold: headers, connections, and the time of each request.
public struct WebServer: Service {
    /// Longest time for one request to arrive, for a connection to say nothing, and for a reader to take nothing of what
    /// is written to it, in seconds.
    static let deadline = 10.0

    /// Answers a request; the text is the address at the other end of the connection.
    public typealias Responder = @Sendable (Request, String) async -> Response

    private let options: ListenOptions
    private let deadline: Double
    private let log: Logger
    private let answer: Responder
    private let whenListening: @Sendable (_ port: Int) async -> Void

    /// - Parameter whenListening: Called with the port once it accepts connections.
    public init(
        _ options: ListenOptions, log: Logger,
        whenListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }, answer: @escaping Responder
    ) {
        self.init(options, deadline: Self.deadline, log: log, whenListening: whenListening, answer: answer)
    }

    package init(
        _ options: ListenOptions, deadline: Double, log: Logger,
        whenListening: @escaping @Sendable (_ port: Int) async -> Void, answer: @escaping Responder
    ) {
        (self.options, self.deadline, self.log) = (options, deadline, log)
        (self.whenListening, self.answer) = (whenListening, answer)
    }

    /// - Throws: ``ListenError`` where the address is taken, or the certificate can't be used.
    public func run() async throws {
        let server = try server()
        var quiet = log
        // Who knocks on an open port must not fill the log.
        quiet.logLevel = .critical
        let application = Application(
            responder: CallbackResponder { (request: Request, context: ConnectionContext) in
                await Self.inItsOwnTask { [answer] in await answer(request, context.source) }
            },
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(options.address.host, port: options.address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(options.mostConnections, logger: quiet)),
            onServerRunning: { channel in
                await whenListening(channel.localAddress?.port ?? options.address.port)
            }, logger: quiet)
        do {
            try await application.run()
        } catch let error as IOError {
            throw ListenError(
                "nothing can be heard at \(options.address.text): \(error); set `listen` to a free address")
        }
    }

    /// A task keeps the memory of its deepest call until it ends, and the task of a connection ends when the last byte of
    /// an event stream is written. So the answer is made by another one.
    private static func inItsOwnTask(_ answer: @escaping @Sendable () async -> Response) async -> Response {
        await withTaskGroup(of: Response.self) { group in
            group.addTask { await answer() }
            return await group.next() ?? Response(status: .internalServerError)
        }
    }

    private func server() throws -> HTTPServerBuilder {
        let deadline = deadline
        let http = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [RequestDeadline(seconds: deadline)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100)))
        guard let certificate = options.certificate, let key = options.key else { return http }
        do {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            tls.minimumTLSVersion = .tlsv12
            return try .tls(http, tlsConfiguration: tls)
        } catch {
            throw ListenError(
                "\(certificate) and \(key) can't be used for TLS: \(error); both must be in PEM")
        }
    }
}

/// What is known of a request besides its content.
private struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address at the other end; empty where there is none.
    let source: String

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        self.source = source.channel.remoteAddress?.ipAddress ?? ""
    }
}

/// Closes a connection whose next request has not arrived in time, however slowly its bytes drip, and one that takes
/// nothing of what is written to it.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let time: TimeAmount
    private var timer: Scheduled<Void>?
    /// Runs while the reader takes nothing.
    private var stalled: Scheduled<Void>?
    /// Whether the request that arrives has its answer already, as a refused one has before its body came.
    private var isAnswered = true
    /// Bytes of a body since the timer began.
    private var arrived = 0
    /// A body may take the time once for so many bytes.
    private static let part = 256 << 10

    init(seconds: Double) { time = .milliseconds(Int64(seconds * 1_000)) }

    func handlerAdded(context: ChannelHandlerContext) {
        // A connection keeps its buffer as long as it lives; it grows where a request needs more.
        try? context.channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 65_536))
        start(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { stopAll() }

    func channelInactive(context: ChannelHandlerContext) {
        stopAll()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: (isAnswered, arrived) = (false, 0)
        case .body(let piece):
            // A large body has the same time for each part of it.
            arrived += piece.readableBytes
            if arrived >= Self.part, timer != nil {
                arrived = 0
                start(context)
            }
        case .end: if isAnswered { start(context) } else { stop() }
        }
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalled?.cancel()
        stalled = context.channel.isWritable ? nil : close(context)
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The answer is written; the next request has the same time.
        if case .end = unwrapOutboundIn(data) {
            isAnswered = true
            start(context)
        }
        context.write(data, promise: promise)
    }

    private func start(_ context: ChannelHandlerContext) {
        stop()
        timer = close(context)
    }

    /// Closes the connection once the time is over.
    private func close(_ context: ChannelHandlerContext) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: time) { channel.close(mode: .all, promise: nil) }
    }

    private func stopAll() {
        stop()
        stalled?.cancel()
        stalled = nil
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }
}
