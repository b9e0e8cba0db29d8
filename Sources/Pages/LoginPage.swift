import Crypto
import DaemonLog
import Foundation
import Logging
import PageMarkup
import Reports
import Store
import Synchronization

/// How people log in and out: with a token, by a link from the command line, or at a forge.
struct LoginPage: Sendable {
    let access: PageAccess
    let controls: PagesControls
    let frame: PageFrame
    let log: Logger
    private let attempts: SignInAttempts
    private let pending: PendingSignIns

    init(_ access: PageAccess, _ controls: PagesControls, _ frame: PageFrame, log: Logger) {
        (self.access, self.controls, self.frame, self.log) = (access, controls, frame, log)
        attempts = SignInAttempts(now: access.now)
        pending = PendingSignIns(now: access.now)
    }

    /// A session at a forge ends after so long, since the permission there may be gone, in seconds.
    private static let signInSeconds = 12 * 3_600.0

    /// The answer to a request about logging in; nil for other requests.
    func answer(_ request: PageRequest, _ visitor: Visitor, nonce: String) async throws -> PageResponse? {
        switch (request.method, request.path.first, request.path.count) {
        case ("GET", "login", 1), ("HEAD", "login", 1): return try await form(request, visitor, nonce)
        case ("GET", "login", 2), ("HEAD", "login", 2): return try linkForm(request, visitor, nonce)
        case ("POST", "login", 1): return try await useToken(request)
        case ("POST", "login", 2): return try await useLink(request)
        case ("POST", "logout", 1):
            try access.checkOrigin(of: request)
            guard case .session = visitor.means, let token = visitor.formToken else { return .seeOther("/login") }
            try PageForm(request.body, type: request.headers["content-type"]).check(token: token)
            return .seeOther("/login", cookies: [try await access.logOut(visitor)])
        case ("GET", "sign-in", 1): return try await beginSignIn(request)
        case ("GET", "sign-in", 2) where request.path[1] == "back": return try await endSignIn(request)
        default: return nil
        }
    }

    // MARK: Forms

    private func form(_ request: PageRequest, _ visitor: Visitor, _ nonce: String) async throws -> PageResponse {
        let target = request.value("to").flatMap(PageRequest.ownTarget)
        var html: HTML = ""
        if let name = visitor.name { html += "<p>You are logged in as \(name).</p>\n" }
        html += """
            <form class="login" method="post" action="/login">
            <label>Token <input type="password" name="token" autocomplete="current-password" required></label>

            """
        if let target { html += "<input type=\"hidden\" name=\"to\" value=\"\(target)\">" }
        html += """
            <button>Log in</button></form>
            <p class="quiet">On the build box, <code>pipectl pages</code> opens these pages with a login, and \
            <code>pipectl token create NAME --scope read</code> makes a token.</p>

            """
        if let forge = await controls.signIn() {
            let path = target.map { [("to", $0)] } ?? []
            html += "<p>\(Piece.link(["sign-in"], query: path, "Log in with \(forge.title)"))</p>\n"
        }
        return page("Log in", html, visitor, nonce)
    }

    private func page(_ title: String, _ html: HTML, _ visitor: Visitor, _ nonce: String) -> PageResponse {
        var page = Page(title, command: "pipectl pages", [.init("login", "", html)])
        page.isLive = false
        return PageResponse(
            type: "text/html; charset=utf-8",
            frame.render(page, path: [], query: [], nonce: nonce, visitor: visitor).bytes)
    }

    /// A link is used by the button's POST: what loads links ahead of people does not use it up.
    private func linkForm(_ request: PageRequest, _ visitor: Visitor, _ nonce: String) throws -> PageResponse {
        guard let person = controls.links.person(of: request.path[1]) else { throw Self.usedLink }
        return page(
            "Log in",
            """
            <form class="login" method="post" action="\(Piece.href(request.path))">
            <p>This browser will act as \(person).</p>
            <button>Log in</button></form>

            """, visitor, nonce)
    }

    private static let usedLink = PageProblem(
        .forbidden, "this link was used, or is older than five minutes; `pipectl pages` makes a new one")

    // MARK: Tokens and links

    private func checkAttempts(_ request: PageRequest) throws(PageProblem) {
        try access.checkOrigin(of: request)
        guard attempts.mayTry(source(of: request)) else {
            throw PageProblem(.tooMany, "too many attempts failed; wait five minutes")
        }
    }

    /// Whose attempts are counted together. Where a proxy stands before the pages, it names the source last.
    private func source(of request: PageRequest) -> String {
        let named = access.options.isOpen ? nil : request.headers["x-forwarded-for"]?.split(separator: ",").last
        return named.map { $0.trimmingCharacters(in: .whitespaces) } ?? request.source
    }

    private func failed(_ request: PageRequest, _ problem: PageProblem) -> PageProblem {
        attempts.noteFailure(of: source(of: request))
        log.warning("a login to the pages failed: \(problem.reason)", metadata: .code(.pagesLogin))
        return problem
    }

    private func useToken(_ request: PageRequest) async throws -> PageResponse {
        try checkAttempts(request)
        let form = try PageForm(request.body, type: request.headers["content-type"])
        let text = (form["token"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard let token = try await access.token(text), token.scope != "proxy" else {
            throw failed(request, PageProblem(.forbidden, "the token is not valid, or not any more"))
        }
        let cookie = try await access.logIn(
            "token \(token.name)", mayOperate: token.scope == "operate", token: token)
        noteLogin("token \(token.name)")
        return .seeOther(form["to"].flatMap(PageRequest.ownTarget) ?? "/", cookies: [cookie])
    }

    private func useLink(_ request: PageRequest) async throws -> PageResponse {
        try checkAttempts(request)
        guard let person = controls.links.redeem(request.path[1]) else { throw failed(request, Self.usedLink) }
        let cookie = try await access.logIn(person, mayOperate: true)
        noteLogin(person)
        return .seeOther("/", cookies: [cookie])
    }

    private func noteLogin(_ person: String) {
        log.notice("\(person) logged in to the pages", metadata: .code(.pagesLogin))
    }

    // MARK: At a forge

    private var signInCookie: String { access.options.cookie + "-sign-in" }
    private var redirect: String { access.options.root + "/sign-in/back" }

    private func beginSignIn(_ request: PageRequest) async throws -> PageResponse {
        guard let forge = await controls.signIn() else {
            throw PageProblem(.notFound, "no forge is set up for signing in: docs/guide/pages.md says how")
        }
        let begun = pending.begin(to: request.value("to").flatMap(PageRequest.ownTarget) ?? "/")
        var response = PageResponse.seeOther(
            forge.address(state: begun.state, challenge: begun.challenge, redirect: redirect))
        // The code that comes back is taken from this browser only, or a stranger could log it in as themselves.
        response.cookies = [access.cookie(begun.browser, seconds: Int(PendingSignIns.lifetime), name: signInCookie)]
        return response
    }

    private func endSignIn(_ request: PageRequest) async throws -> PageResponse {
        let wrong = PageProblem(.forbidden, "this sign-in was not begun in this browser, or is too old; begin anew")
        guard let state = request.value("state"), let browser = request.cookie(signInCookie),
            let begun = pending.end(state, browser: browser)
        else { throw failed(request, wrong) }
        guard let code = request.value("code"), let forge = await controls.signIn() else {
            throw failed(request, PageProblem(.forbidden, "the forge did not let you sign in"))
        }
        let person: SignedIn?
        do {
            person = try await forge.person(code: code, verifier: begun.verifier, redirect: redirect)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw failed(request, PageProblem(.refused, "\(forge.title) can't tell who you are: \(error)"))
        }
        guard let person else {
            throw failed(
                request,
                PageProblem(.forbidden, "you may not see the repositories that are connected with \(forge.title)"))
        }
        let cookie = try await access.logIn(
            person.name, mayOperate: person.mayOperate, atMost: Self.signInSeconds)
        noteLogin(person.name)
        return .seeOther(begun.target, cookies: [cookie, access.cookie("", seconds: 0, name: signInCookie)])
    }
}

/// Sign-ins at a forge that have begun and not ended.
private final class PendingSignIns: Sendable {
    /// How long one may take, in seconds.
    static let lifetime = 600.0
    private static let most = 1_000

    struct Begun {
        var state: String
        /// Known to the browser that began it.
        var browser: String
        /// Known to the daemon alone until it exchanges the code.
        var verifier: String
        var target: String
        var expiresAt: Date

        /// SHA-256 of the verifier in base64url. https://www.rfc-editor.org/rfc/rfc7636#section-4.2
        var challenge: String {
            Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "")
        }
    }

    private let begun = Mutex<[String: Begun]>([:])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    func begin(to target: String) -> Begun {
        let time = now()
        let new = Begun(
            state: Secrecy.random(), browser: Secrecy.random(), verifier: Secrecy.random(), target: target,
            expiresAt: time.addingTimeInterval(Self.lifetime))
        begun.withLock { begun in
            if begun.count >= Self.most { begun = begun.filter { $0.value.expiresAt > time } }
            if begun.count >= Self.most, let oldest = begun.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
                begun[oldest.key] = nil
            }
            begun[new.state] = new
        }
        return new
    }

    /// Takes a sign-in out; nil for one that this browser did not begin.
    func end(_ state: String, browser: String) -> Begun? {
        let time = now()
        return begun.withLock { begun -> Begun? in
            guard let one = begun[state], Secrecy.isEqual(one.browser, browser) else { return nil }
            begun[state] = nil
            return one.expiresAt > time ? one : nil
        }
    }
}
