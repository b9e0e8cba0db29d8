import PageMarkup
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
/// ``PageAccess`` says who sees them and who acts. As a service, it renders live pages as long as somebody follows them.
public struct Pages: Service {
    private let host: PagesHost
    private let frame: PageFrame
    private let login: LoginPage
    private let live = LivePages()
    let logs = LiveLogs()
    let views: PageViews
    /// Whoever asks: what is made at the same time is in memory at the same time.
    private let turns = Turns(most: 8)
    private let uploads = Turns(most: 4)
    private let log: Logger

    /// - Parameter machine: The name of this machine.
    public init(_ host: PagesHost, _ controls: PagesControls, machine: String, log: Logger) {
        self.init(host, controls, machine: machine, log: log, now: { Date() })
    }

    init(
        _ host: PagesHost, _ controls: PagesControls, machine: String, log: Logger, now: @escaping @Sendable () -> Date
    ) {
        (self.host, self.log) = (host, log)
        views = PageViews(host: host)
        frame = PageFrame(host: machine)
        let access = PageAccess(index: host.index, options: controls.options, now: now)
        login = LoginPage(access, controls, frame, log: log)
    }

    private var access: PageAccess { login.access }
    private var controls: PagesControls { login.controls }

    /// Renders live pages and logs until its group shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown {
            async let followed: Void = logs.run()
            await live.run(news: host.news) { [self] in try await shown($0) }
            await followed
        }
    }

    /// The page at a path with its buttons; nil where there is none.
    private func shown(_ request: PageRequest) async throws -> Page? {
        guard var page = try await views.page(request) else { return nil }
        try await PageButtons(host: host).add(to: &page, request)
        return page
    }

    // MARK: HTTP

    /// Answers requests of the server.
    ///
    /// - Parameter source: The address at the other end of the connection.
    public var responder: @Sendable (Request, _ source: String) async -> Response { { await respond($0, from: $1) } }

    private func respond(_ request: Request, from source: String) async -> Response {
        var headers: [String: String] = [:]
        for field in request.headers {
            let name = field.name.canonicalName
            // Of two, a proxy in front may mean the other one.
            if headers[name] != nil, access.isDecisive(name) {
                return Self.response(PageResponse(400, text: "\(field.name) is there twice"), closes: true)
            }
            if headers[name] == nil { headers[name] = field.value }
        }
        // HTTP/1.1's `Host` has a field of its own.
        headers["host"] = request.head.authority ?? headers["host"]
        guard
            var asked = PageRequest(
                method: request.method.rawValue, target: request.head.path ?? "", headers: headers)
        else { return Self.response(PageResponse(400, text: "this address can't be read"), closes: true) }
        asked.source = source
        guard asked.method == "POST" else {
            // A body that nobody wants is not read.
            return Self.response(await answer(asked), closes: !["GET", "HEAD"].contains(asked.method))
        }
        guard PageActions.handsOverWork(asked), await mayAct(asked) else {
            return await answer(asked, with: request.body, atMost: PageForm.mostBytes)
        }
        // Files are in memory as a whole, so few are at a time.
        let whole = asked
        return (try? await uploads.take { await answer(whole, with: request.body, atMost: PageActions.mostTaskBytes) })
            ?? Self.response(PageResponse(503, text: "the daemon is shutting down"), closes: true)
    }

    /// Answers a request that has a body.
    private func answer(_ request: PageRequest, with body: RequestBody, atMost most: Int) async -> Response {
        var asked = request
        do {
            if let length = asked.headers["content-length"], Int(length).map({ $0 > most }) ?? true {
                throw NIOTooManyBytesError(maxBytes: most)
            }
            asked.body = Array(try await body.collect(upTo: most).readableBytesView)
        } catch is NIOTooManyBytesError {
            let problem = PageProblem(.tooLarge, "a body has at most \(most >> 10) KiB")
            return Self.response(PagesAPI.response(problem), closes: true)
        } catch {
            return Self.response(PageResponse(400, text: "the body did not arrive"), closes: true)
        }
        return Self.response(await answer(asked), closes: false)
    }

    /// Whether the body of a request may be larger than those of others.
    private func mayAct(_ request: PageRequest) async -> Bool {
        guard let visitor = try? await access.visitor(of: request) else { return false }
        return visitor.level == .operate
    }

    /// Names of headers that all answers have, made once: a listener keeps those of its answer.
    private static let commonNames: [String: HTTPField.Name] = [
        "content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options",
        "cross-origin-opener-policy", "cross-origin-resource-policy", "cache-control", "content-type",
        "x-accel-buffering",
    ].reduce(into: [:]) { $0[$1] = HTTPField.Name($1) }

    private static func response(_ answer: PageResponse, closes: Bool) -> Response {
        var headers: HTTPFields = [:]
        // The server adds two.
        headers.reserveCapacity(answer.headers.count + answer.cookies.count + 3)
        for (name, value) in answer.headers {
            if let name = commonNames[name] ?? HTTPField.Name(name) { headers[name] = value }
        }
        for cookie in answer.cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
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
        var request = request
        var visitor = Visitor.nobody
        var response: PageResponse
        do {
            visitor = try await self.visitor(of: request)
            request.reader = visitor.reader
            response = try await route(request, visitor, nonce)
        } catch let problem as PageProblem {
            response = self.response(problem, request, visitor, nonce)
        } catch is CancellationError {
            response = PageResponse(503, text: "the daemon is shutting down")
        } catch {
            log.warning(
                "the page /\(request.path.joined(separator: "/").prefix(200)) can't be shown: \(error)",
                metadata: .code(.pageFailed))
            response = self.response(PageProblem(.broken, "\(error)"), request, visitor, nonce)
        }
        response = forOne(response, visitor, request)
        let pagePolicy =
            "default-src 'none'; style-src 'self' 'nonce-\(nonce)'; script-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        // A stream shows nothing itself.
        let policy = if case .stream = response.body { Self.streamPolicy } else { pagePolicy }
        let common = [
            "content-security-policy": policy, "x-content-type-options": "nosniff",
            // With `no-referrer`, browsers would send `Origin: null` with our own forms.
            "referrer-policy": "same-origin",
            "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin", "cache-control": "no-store",
        ]
        response.headers.merge(common) { own, _ in own }
        if request.method == "HEAD" { response.body = .bytes([]) }
        return response
    }

    private static let streamPolicy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

    private func response(
        _ problem: PageProblem, _ request: PageRequest, _ visitor: Visitor, _ nonce: String
    ) -> PageResponse {
        let isPage = !["api", "live", "feeds", "badges", "metrics", "readyz"].contains(request.path.first)
        if problem.code == .unauthorized, isPage, request.method == "GET", request.bearer == nil {
            let query = request.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            let target = PageRequest.target(request.path, query)
            return .seeOther(PageRequest.target(["login"], target == "/" ? [] : [("to", target)]))
        }
        var response =
            request.path.first == "api"
            ? PagesAPI.response(problem)
            : PageResponse(
                problem.code.rawValue, type: "text/html; charset=utf-8",
                frame.render(problem, nonce: nonce, visitor: visitor).bytes)
        if problem.code == .unauthorized { response.headers["www-authenticate"] = "Bearer" }
        if problem.code == .tooMany { response.headers["retry-after"] = "\(Int(SignInAttempts.window))" }
        return response
    }

    /// The answer with the visitor's own token in its forms. A stream ends when they may not see it any more.
    private func forOne(_ response: PageResponse, _ visitor: Visitor, _ request: PageRequest) -> PageResponse {
        var response = response
        switch response.body {
        case .bytes(let bytes):
            guard let token = visitor.formToken, response.headers["content-type"]?.hasPrefix("text/html") == true else {
                break
            }
            response.body = .bytes(FormMark.replaced(in: bytes, by: token))
        case .stream(let stream):
            guard visitor.means != .nothing else { break }
            let token = request.path.first == "live" ? visitor.formToken : nil
            response.body = .stream(
                GuardedStream(stream: stream, formToken: token, isFile: stream is RawBytes) { [access] in
                    await access.isStillValid(visitor, request)
                })
        }
        return response
    }

    // MARK: Who may

    /// What everybody may ask for, whoever they are: the way to log in, and that the daemon answers.
    private static func isPublic(_ request: PageRequest) -> Bool {
        switch request.path.first {
        case "login", "logout", "sign-in", "assets": true
        case "healthz": request.path.count == 1
        default: false
        }
    }

    /// - Throws: ``PageProblem`` where a visitor may not see what they ask for.
    private func visitor(of request: PageRequest) async throws -> Visitor {
        if Self.isPublic(request) { return (try? await access.visitor(of: request)) ?? .nobody }
        let visitor = try await access.visitor(of: request)
        try access.check(visitor, request)
        return visitor
    }

    private static func nonce() -> String {
        (0..<16).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    }

    private func route(_ request: PageRequest, _ visitor: Visitor, _ nonce: String) async throws -> PageResponse {
        if let answer = try await login.answer(request, visitor, nonce: nonce) { return answer }
        if request.method == "POST" { return try await act(request, visitor) }
        guard ["GET", "HEAD"].contains(request.method) else {
            throw PageProblem(.wrongMethod, "pages are read by GET, and act by POST")
        }
        switch request.path.first {
        case "assets" where request.path.count == 2:
            guard let (type, text) = PageAssets.file(request.path[1]) else { break }
            return PageResponse(type: type, Array(text.utf8), headers: ["cache-control": "max-age=300"])
        case "healthz" where request.path.count == 1: return PageResponse(text: "ok")
        default: break
        }
        if Self.mayTakeLong(request.path) { return try await page(request, visitor, nonce) }
        return try await turns.take { try await made(request, visitor, nonce) }
    }

    /// Whether a page needs the compiled workflows, which the others must not wait for.
    private static func mayTakeLong(_ path: [String]) -> Bool {
        path.count == 3 && path[0] == "repositories" && path[2] == "start" || path == ["tests", "quarantine"]
    }

    private func made(_ request: PageRequest, _ visitor: Visitor, _ nonce: String) async throws -> PageResponse {
        switch request.path.first {
        case "live": return try await follow(request)
        case "api": return try await PagesAPI(host: host).answer(request)
        case "feeds", "badges": return try await PageFeeds(host: host).answer(request)
        case "metrics" where request.path.count == 1:
            return try await PageMetrics(host: host).answer(readers: followers)
        case "readyz" where request.path.count == 1:
            let status = try await host.status()
            return status.obstacle.map { PageResponse(503, text: $0) } ?? PageResponse(text: "ok")
        case "runs" where request.path.count == 5 && request.path[2] == "steps": return try await log(request)
        case "runs" where request.path.count == 5 && request.path[2] == "artifacts": return try await artifact(request)
        case "releases" where request.path.count == 3 && request.path[2] == ReleaseVersion.newest:
            return try await latest(request)
        case "releases" where request.path.count == 5 && request.path[3] == "files":
            return try await releaseFile(request)
        default: break
        }
        return try await page(request, visitor, nonce)
    }

    /// Carries out an action. What a browser sends by itself is enough for none.
    private func act(_ request: PageRequest, _ visitor: Visitor) async throws -> PageResponse {
        let actions = PageActions(act: controls.act)
        if request.path.first == "api" {
            try access.checkCall(of: visitor)
            let answer = try await PagesAPI(host: host).act(request, actions, by: visitor.name ?? "")
            note(request, visitor)
            return answer
        }
        let token = try access.checkForm(of: visitor, request)
        let form = try PageForm(request.body, type: request.headers["content-type"])
        try form.check(token: token)
        let outcome = try await actions.carryOut(request.path, PageActions.Fields(form), by: visitor.name ?? "")
        guard let outcome else { throw PageProblem(.notFound, "there is no such action") }
        note(request, visitor)
        return .seeOther(outcome.page)
    }

    private func note(_ request: PageRequest, _ visitor: Visitor) {
        log.notice(
            "\(visitor.name ?? ""): \(request.path.joined(separator: "/").prefix(200))",
            metadata: .code(.pagesAction))
    }

    /// Pages that only lead to an action, or those that show something.
    private func anyPage(_ request: PageRequest) async throws -> Page? {
        let path = request.path
        if path.count == 3, path[0] == "repositories", path[2] == "start" {
            return try await StartPage(host: host).page(path[1], request)
        }
        if path == ["tasks", "new"] { return try await views.newTask(request) }
        if path == ["tests", "quarantine"] {
            return try await QuarantinePage(host: host, definition: controls.definition).page(request)
        }
        return try await shown(request)
    }

    private func page(_ request: PageRequest, _ visitor: Visitor, _ nonce: String) async throws -> PageResponse {
        guard let page = try await anyPage(request) else {
            throw PageProblem(.notFound, "there is no page /\(request.path.joined(separator: "/").prefix(200))")
        }
        let query = request.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return PageResponse(
            type: "text/html; charset=utf-8",
            frame.render(page, path: request.path, query: query, nonce: nonce, visitor: visitor).bytes)
    }

    // MARK: Live

    private var followers: Int { live.readers + logs.readers }

    /// A stream, unless as many are open as may be: then the browser tries again later.
    func stream(_ stream: any PageStream) -> PageResponse {
        .events(followers < controls.options.mostFollowers ? stream : FullStream())
    }

    /// The sections of a page as they change, as server-sent events.
    private func follow(_ request: PageRequest) async throws -> PageResponse {
        var wanted = request
        wanted.path.removeFirst()
        // All who follow a page get the same, and each stream lasts for hours.
        wanted.headers = [:]
        // An address without a page is refused before a stream begins.
        if !live.isShown(wanted) {
            guard try await views.page(wanted) != nil else { throw PageProblem(.notFound, "there is no such page") }
        }
        return stream(SectionStream(page: wanted, live: live))
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
