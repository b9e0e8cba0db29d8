import Foundation
import Store

/// Who may see the pages and act there.
///
/// Programs of this machine may read without a login where nobody else reaches the pages. They can't act: a step with
/// `.network(.allowed)` reaches loopback, too, and must not approve its own run.
struct PageAccess: Sendable {
    /// A session that is not used for so long ends, in seconds.
    static let idleSeconds = 12 * 3_600.0
    /// The longest session, in seconds.
    static let longestSeconds = 7 * 86_400.0
    /// The use of tokens and sessions is noted at most once in this time, in seconds.
    static let noteSeconds = 60.0

    let index: Store.Index
    let options: PagesOptions
    var now: @Sendable () -> Date = { Date() }
    /// What forms of people are made with whom a proxy names: they have no session.
    private let proxySecret = Secrecy.random()

    init(index: Store.Index, options: PagesOptions, now: @escaping @Sendable () -> Date = { Date() }) {
        (self.index, self.options, self.now) = (index, options, now)
    }

    // MARK: Who it is

    /// - Throws: ``PageProblem`` for a token that is not valid.
    func visitor(of request: PageRequest) async throws -> Visitor {
        if let text = request.bearer { return try await visitor(bearing: text, request) }
        if let value = request.cookie(options.cookie), let visitor = try await visitor(ofSession: value) {
            return visitor
        }
        return options.isOpen && Self.obstacle(to: request) == nil ? Visitor(level: .read) : .nobody
    }

    private func visitor(bearing text: String, _ request: PageRequest) async throws -> Visitor {
        guard let token = try await token(text) else {
            throw PageProblem(
                .unauthorized, "the token is not valid, or not any more; `pipectl token create` makes a new one")
        }
        switch token.scope {
        case "operate": return Visitor(level: .operate, name: "token \(token.name)", means: .token)
        case "read": return Visitor(level: .read, name: "token \(token.name)", means: .token)
        default: break
        }
        let header = options.userHeader.lowercased()
        guard let name = request.headers[header], !name.isEmpty, name.utf8.count <= 200,
            name.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else {
            throw PageProblem(.unauthorized, "the proxy does not say in \(options.userHeader) who asks")
        }
        return Visitor(
            level: options.operators.contains(name) ? .operate : .read, name: "\(name) (\(token.name))", means: .proxy,
            formToken: Secrecy.code("form of \(name)", by: proxySecret))
    }

    /// The valid token with this text.
    func token(_ text: String) async throws -> AccessTokenRecord? {
        guard let given = AccessTokenText(text), let token = try await index.accessToken(id: given.id),
            Secrecy.isEqual(token.digest, given.digest), token.expiresAt.map({ $0 > now() }) ?? true
        else { return nil }
        if token.lastUsedAt.map({ now().timeIntervalSince($0) >= Self.noteSeconds }) ?? true {
            try await index.noteUse(ofAccessToken: token.id)
        }
        return token
    }

    private func visitor(ofSession value: String) async throws -> Visitor? {
        let digest = Secrecy.digest(value)
        guard let session = try await session(digest) else { return nil }
        if now().timeIntervalSince(session.usedAt) >= Self.noteSeconds {
            try await index.noteUse(ofAccessSession: digest)
        }
        return Visitor(
            level: session.mayOperate ? .operate : .read, name: session.person, means: .session(digest),
            formToken: Secrecy.code("form", by: value))
    }

    private func session(_ digest: Data) async throws -> AccessSession? {
        guard let session = try await index.accessSession(digest: digest), session.expiresAt > now(),
            now().timeIntervalSince(session.usedAt) < Self.idleSeconds
        else { return nil }
        return session
    }

    /// Whether somebody who could see a page still can: asked while they follow one.
    func isStillValid(_ visitor: Visitor, _ request: PageRequest) async -> Bool {
        switch visitor.means {
        case .nothing: true
        case .session(let digest): (try? await session(digest)) != nil
        case .token, .proxy: if let text = request.bearer { (try? await token(text)) != nil } else { false }
        }
    }

    /// Whether a header decides who it is: there must not be two of them.
    func isDecisive(_ header: String) -> Bool {
        ["authorization", "host", "origin", "sec-fetch-site", "cookie", options.userHeader.lowercased()]
            .contains(header)
    }

    // MARK: What they may

    /// - Throws: ``PageProblem`` where a visitor may not see a page.
    func check(_ visitor: Visitor, _ request: PageRequest) throws(PageProblem) {
        guard visitor.level == .none else { return }
        // Nobody who is not known learns why the other way is closed, unless they are of this machine.
        if options.isOpen, let obstacle = Self.obstacle(to: request) { throw PageProblem(.forbidden, obstacle) }
        throw PageProblem(
            .unauthorized, "log in at \(options.root)/login, or send a token: `pipectl token create` makes one")
    }

    /// Why a request without a login is not of this machine: it was made for another host, as by a page of a stranger
    /// whose name was pointed to this machine, or came through a proxy that lets others in. Nil where it is.
    static func obstacle(to request: PageRequest) -> String? {
        guard isLoopback(host: request.headers["host"] ?? "") else {
            return "without a login, the pages are shown on this machine only; open http://localhost:PORT/, or make a "
                + "tunnel with `ssh -L PORT:localhost:PORT BUILD-BOX`"
        }
        for header in ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"] where request.headers[header] != nil {
            return "without a login, the pages are not shown through a proxy"
        }
        return nil
    }

    /// Whether a `Host` header names this machine as itself.
    static func isLoopback(host: String) -> Bool {
        var name = host[...]
        if name.hasPrefix("[") {
            name = name.dropFirst().prefix { $0 != "]" }
        } else if let colon = name.lastIndex(of: ":") {
            name = name[..<colon]
        }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.lowercased() == "localhost" || name == "::1"
            || numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }

    /// - Throws: ``PageProblem`` for a form that another site sends.
    func checkOrigin(of request: PageRequest) throws(PageProblem) {
        let problem = PageProblem(.forbidden, "the form is not of this site; load the page again")
        if let site = request.headers["sec-fetch-site"], site != "same-origin" { throw problem }
        guard let origin = request.headers["origin"] else { return }
        let host = request.headers["host"] ?? ""
        let own = [options.isSecure ? "https://\(host)" : "http://\(host)", options.origin]
        guard own.contains(origin.lowercased()) else { throw problem }
    }

    /// - Returns: What a form of this visitor must contain.
    /// - Throws: ``PageProblem`` for somebody who may not act by forms, and for a form that another site sends.
    func checkForm(of visitor: Visitor, _ request: PageRequest) throws(PageProblem) -> String {
        try checkOrigin(of: request)
        guard visitor.level == .operate else { throw Self.mayNotAct(visitor) }
        guard let token = visitor.formToken else {
            throw PageProblem(.forbidden, "a token acts by the API, not by forms: POST /api/v1/…")
        }
        return token
    }

    /// - Throws: ``PageProblem`` for who may not act by the API: what a browser sends by itself is not enough there.
    func checkCall(of visitor: Visitor) throws(PageProblem) {
        guard visitor.means == .token else {
            throw PageProblem(
                .unauthorized,
                "the API acts for tokens only: send `Authorization: Bearer TOKEN`; "
                    + "`pipectl token create NAME --scope operate` makes one")
        }
        guard visitor.level == .operate else { throw Self.mayNotAct(visitor) }
    }

    private static func mayNotAct(_ visitor: Visitor) -> PageProblem {
        visitor.name.map { PageProblem(.forbidden, "\($0) may read and not act") }
            ?? PageProblem(.forbidden, "log in to act: `pipectl pages` opens the pages with a login")
    }

    // MARK: Sessions

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - token: The token that it was made with: it ends with the token.
    ///   - seconds: The longest that it lasts.
    /// - Returns: The value of `Set-Cookie`.
    func logIn(
        _ person: String, mayOperate: Bool, token: AccessTokenRecord? = nil,
        atMost seconds: Double = PageAccess.longestSeconds
    ) async throws -> String {
        let (value, time) = (Secrecy.random(), now())
        let end = min(time.addingTimeInterval(seconds), token?.expiresAt ?? .distantFuture)
        let session = AccessSession(
            digest: Secrecy.digest(value), token: token?.name, person: person, mayOperate: mayOperate, usedAt: time,
            expiresAt: end)
        guard try await index.addAccessSession(session) else {
            throw PageProblem(.unauthorized, "the token is not valid any more")
        }
        return cookie(value, seconds: Int(end.timeIntervalSince(time)))
    }

    /// Ends the session of a visitor.
    ///
    /// - Returns: The value of `Set-Cookie`.
    func logOut(_ visitor: Visitor) async throws -> String {
        if case .session(let digest) = visitor.means { _ = try await index.removeAccessSessions(digest) }
        return cookie("", seconds: 0)
    }

    /// `Lax`, since with `Strict` who follows a link from a forge or a mail would be logged out on that page; no action
    /// is done by GET.
    func cookie(_ value: String, seconds: Int, name: String? = nil) -> String {
        "\(name ?? options.cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (options.isSecure ? "; Secure" : "")
    }
}

extension PagesOptions {
    /// As a browser's `Origin` header has it.
    fileprivate var origin: String {
        guard let url = URL(string: root), let scheme = url.scheme, let host = url.host(percentEncoded: true) else {
            return root
        }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(name)\(url.port.map { ":\($0)" } ?? "")".lowercased()
    }
}

extension PageRequest {
    /// The token of `Authorization: Bearer TOKEN`; nil for other kinds of authorization, which are not for us.
    var bearer: String? {
        guard let text = headers["authorization"], text.lowercased().hasPrefix("bearer ") else { return nil }
        return text.dropFirst(7).trimmingCharacters(in: .whitespaces)
    }

    /// The value of a cookie of ours: 64 hexadecimal digits.
    func cookie(_ name: String) -> String? {
        for part in (headers["cookie"] ?? "").split(separator: ";").prefix(100) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces) == name else { continue }
            let value = pair[1].trimmingCharacters(in: .whitespaces)
            return value.utf8.count == 64 && value.utf8.allSatisfy({ $0 < 0x80 }) ? value : nil
        }
        return nil
    }
}
