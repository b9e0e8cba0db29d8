import Reports
import Control
import Results
import Foundation
public import Hummingbird
public import Logging
public import ServiceLifecycle
import DaemonLog
import HTTPTypes
import NIOCore

/// The pages of a build box: what goes on there and what happened, for browsers, scripts and agents.
///
/// They are shown to this machine only. As a service, it renders live pages as long as somebody follows them.
public struct Pages: Service {
    private let host: PagesHost
    let views: PageViews
    private let frame: PageFrame
    private let access = PageAccess()
    private let live = LivePages()
    let logs = LiveLogs()
    private let log: Logger

    /// - Parameter machine: The name of this machine.
    public init(_ host: PagesHost, machine: String, log: Logger) {
        (self.host, self.log) = (host, log)
        views = PageViews(host: host)
        frame = PageFrame(host: machine)
    }

    /// Renders live pages and logs until its group shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown {
            async let followed: Void = logs.run()
            await live.run(news: host.news) { [views] in try await views.page($0) }
            await followed
        }
    }

    // MARK: HTTP

    /// Answers requests of the server.
    public var responder: @Sendable (Request) async -> Response { { await respond($0) } }

    private func respond(_ request: Request) async -> Response {
        var headers: [String: String] = [:]
        for field in request.headers where headers[field.name.canonicalName] == nil {
            headers[field.name.canonicalName] = field.value
        }
        // HTTP/1.1's `Host` has a field of its own.
        headers["host"] = request.head.authority ?? headers["host"]
        guard
            let asked = PageRequest(
                method: request.method.rawValue, target: request.head.path ?? "", headers: headers)
        else { return Self.response(PageResponse(400, text: "this address can't be read"), closes: true) }
        // A body that nobody wants is not read.
        return Self.response(await answer(asked), closes: !["GET", "HEAD"].contains(asked.method))
    }

    private static func response(_ answer: PageResponse, closes: Bool) -> Response {
        var headers: HTTPFields = [:]
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        if closes { headers[.connection] = "close" }
        switch answer.body {
        case .bytes(let bytes):
            return Response(
                status: .init(code: answer.status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        case .stream(let stream):
            return Response(
                status: .init(code: answer.status), headers: headers,
                body: ResponseBody(asyncSequence: PageBytes(stream: stream)))
        }
    }

    // MARK: Answers

    /// Answers a request; every answer has the headers that keep foreign text from acting.
    func answer(_ request: PageRequest) async -> PageResponse {
        let nonce = Self.nonce()
        var response: PageResponse
        do {
            try access.check(request)
            response = try await route(request, nonce)
        } catch let problem as PageProblem {
            response = self.response(problem, request, nonce)
        } catch is CancellationError {
            response = PageResponse(503, text: "the daemon is shutting down")
        } catch {
            log.warning(
                "the page /\(request.path.joined(separator: "/").prefix(200)) can't be shown: \(error)",
                metadata: .code(.pageFailed))
            response = self.response(PageProblem(.broken, "\(error)"), request, nonce)
        }
        let policy =
            "default-src 'none'; style-src 'self' 'nonce-\(nonce)'; script-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        let common = [
            "content-security-policy": policy, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
            "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin", "cache-control": "no-store",
        ]
        response.headers.merge(common) { own, _ in own }
        if request.method == "HEAD" { response.body = .bytes([]) }
        return response
    }

    private func response(_ problem: PageProblem, _ request: PageRequest, _ nonce: String) -> PageResponse {
        if request.path.first == "api" { return PagesAPI.response(problem) }
        return PageResponse(
            problem.code.rawValue, type: "text/html; charset=utf-8", frame.render(problem, nonce: nonce).bytes)
    }

    private static func nonce() -> String {
        (0..<16).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    }

    private func route(_ request: PageRequest, _ nonce: String) async throws -> PageResponse {
        guard ["GET", "HEAD"].contains(request.method) else {
            throw PageProblem(.wrongMethod, "pages can only be read; pipectl's commands act")
        }
        switch request.path.first {
        case "assets" where request.path.count == 2:
            guard let (type, text) = PageAssets.file(request.path[1]) else { break }
            return PageResponse(type: type, Array(text.utf8), headers: ["cache-control": "max-age=300"])
        case "live": return try await follow(request)
        case "api": return try await PagesAPI(host: host).answer(request)
        case "feeds", "badges": return try await PageFeeds(host: host).answer(request)
        case "metrics" where request.path.count == 1:
            return try await PageMetrics(host: host).answer(readers: live.readers + logs.readers)
        case "healthz" where request.path.count == 1: return PageResponse(text: "ok")
        case "readyz" where request.path.count == 1:
            let status = try await host.status()
            return status.obstacle.map { PageResponse(503, text: $0) } ?? PageResponse(text: "ok")
        case "runs" where request.path.count == 5 && request.path[2] == "steps": return try await log(request)
        default: break
        }
        return try await page(request, nonce)
    }

    private func page(_ request: PageRequest, _ nonce: String) async throws -> PageResponse {
        guard let page = try await views.page(request) else {
            throw PageProblem(.notFound, "there is no page /\(request.path.joined(separator: "/").prefix(200))")
        }
        let query = request.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return PageResponse(
            type: "text/html; charset=utf-8",
            frame.render(page, path: request.path, query: query, nonce: nonce).bytes)
    }

    // MARK: Live

    /// The sections of a page as they change, as server-sent events.
    private func follow(_ request: PageRequest) async throws -> PageResponse {
        var wanted = request
        wanted.path.removeFirst()
        // An address without a page is refused before a stream begins.
        guard try await views.page(wanted) != nil else {
            throw PageProblem(.notFound, "there is no such page")
        }
        return .events(SectionStream(page: wanted, live: live))
    }
}

/// A stream as the server reads it.
private struct PageBytes: AsyncSequence, Sendable {
    let stream: any PageStream

    func makeAsyncIterator() -> Iterator { Iterator(pieces: stream.pieces()) }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: any PagePieces

        mutating func next() async throws -> ByteBuffer? {
            try await pieces.next().map { ByteBuffer(bytes: $0) }
        }
    }
}
