import Control
import Foundation
import Results
import Store
import Synchronization
import TestSupport
import Testing

import PageMarkup

@testable import Pages

extension Box {
    /// The text of a new token.
    func token(_ name: String, _ scope: String, expiresAfter seconds: Double? = nil) async throws -> String {
        let text = AccessTokenText()
        let now = clock.now()
        let isNew = try await index.addAccessToken(
            AccessTokenRecord(
                name: name, id: text.id, scope: scope, digest: text.digest, createdAt: now,
                expiresAt: seconds.map { now.addingTimeInterval($0) }))
        #expect(isNew)
        return text.text
    }

    /// Lets time pass.
    func wait(_ seconds: Double) { clock.turn(seconds) }

    /// The headers of a browser that logged in by a link.
    func browser(_ pages: Pages) async throws -> [String: String] {
        let answer = try await pages.post("/login/\(links.make(for: "ada"))", [:])
        #expect(answer.status == 303)
        return ["cookie": try #require(answer.sessionCookie)]
    }
}

extension Pages {
    func ask(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String = "", source: String = ""
    ) async throws -> PageResponse {
        var all = ["host": "127.0.0.1:8787"]
        all.merge(headers) { $1 }
        var request = try #require(PageRequest(method: method, target: target, headers: all))
        (request.body, request.source) = (Array(body.utf8), source)
        return await answer(request)
    }

    func post(
        _ target: String, _ form: [String: String], headers: [String: String] = [:], source: String = ""
    ) async throws -> PageResponse {
        let all = headers.merging(["content-type": "application/x-www-form-urlencoded"]) { own, _ in own }
        let body = form.map { "\(PageAddress.part($0))=\(PageAddress.part($1))" }.joined(separator: "&")
        return try await ask("POST", target, headers: all, body: body, source: source)
    }

    /// The token in the forms of a page for whoever sends these headers.
    func formToken(_ headers: [String: String], on target: String = "/runs/1") async throws -> String {
        let text = try await ask("GET", target, headers: headers).text
        return String(try #require(text.firstMatch(of: /name="token" value="([^"]+)"/)).1)
    }
}

extension PageResponse {
    /// The cookie as a browser sends it back.
    var sessionCookie: String? {
        cookies.first { !$0.contains("-sign-in=") }?.split(separator: ";").first.map(String.init)
    }
}

/// Who may see the pages, and who may act there.
@Suite struct AccessTests {
    enum Who: String, CaseIterable, Sendable {
        case stranger, readToken, operateToken, proxyReader, proxyOperator, proxyOfNobody, readSession, operateSession
        case expiredToken, revokedToken, endedSession, forgedToken, forgedCookie

        var level: AccessLevel {
            switch self {
            case .readToken, .proxyReader, .readSession: .read
            case .operateToken, .proxyOperator, .operateSession: .operate
            default: .none
            }
        }

        func headers(_ box: Box, _ pages: Pages) async throws -> [String: String] {
            func bearer(_ text: String) -> [String: String] { ["authorization": "Bearer \(text)"] }
            func session(_ scope: String) async throws -> [String: String] {
                let token = try await box.token("laptop", scope)
                let answer = try await pages.post("/login", ["token": token])
                return ["cookie": try #require(answer.sessionCookie)]
            }
            switch self {
            case .stranger: return [:]
            case .readToken: return bearer(try await box.token("reader", "read"))
            case .operateToken: return bearer(try await box.token("bot", "operate"))
            case .proxyReader, .proxyOperator, .proxyOfNobody:
                var headers = bearer(try await box.token("sso", "proxy"))
                if self != .proxyOfNobody { headers["x-forwarded-user"] = self == .proxyReader ? "eve" : "ada" }
                return headers
            case .readSession: return try await session("read")
            case .operateSession: return try await session("operate")
            case .expiredToken:
                let token = try await box.token("old", "operate", expiresAfter: 60)
                box.wait(60)
                return bearer(token)
            case .revokedToken:
                let token = try await box.token("lost", "operate")
                _ = try await box.index.removeAccessToken("lost")
                return bearer(token)
            case .endedSession:
                let headers = try await session("operate")
                _ = try await box.index.removeAccessToken("laptop")
                return headers
            case .forgedToken: return bearer(AccessTokenText().text)
            case .forgedCookie: return ["cookie": "\(Self.cookie)=\(Secrecy.random())"]
            }
        }

        private static let cookie = "__Host-pipectl"
    }

    /// Who gets in where everybody needs a login: behind a proxy, or where other machines reach the pages.
    @Test(arguments: Who.allCases) func `each sees and does what their level says`(who: Who) async throws {
        let box = try await Box()
        let pages = box.pages(at: "https://ci.example.com", operators: ["ada"])
        var headers = try await who.headers(box, pages)
        headers["host"] = "ci.example.com"
        for path in ["/healthz", "/login", "/assets/site.css"] {
            #expect(try await pages.ask("GET", path, headers: headers).status == 200, "\(path)")
        }
        for path in ["/", "/runs/1", "/runs/1/steps/1/raw", "/search?q=x"] {
            let answer = try await pages.ask("GET", path, headers: headers)
            let isLoggedOut = headers["authorization"] == nil ? 303 : 401
            #expect(answer.status == (who.level >= .read ? 200 : isLoggedOut), "\(path)")
            if answer.status == 303 { #expect(answer.headers["location"]?.hasPrefix("/login") == true) }
        }
        for path in [
            "/api/v1/status", "/api/v1/runs/1/report", "/metrics", "/feeds/runs.atom", "/badges/alpha/main.svg",
            "/readyz", "/live/",
        ] {
            let status = try await pages.ask("GET", path, headers: headers).status
            #expect(who.level >= .read ? [200, 404].contains(status) : status == 401, "\(path): \(status)")
        }
        #expect(box.acted.withLock { $0 }.isEmpty)
        let call = try await pages.ask("POST", "/api/v1/runs/1/rerun", headers: headers)
        #expect((call.status == 200) == (who == .operateToken), "\(call.status)")
        var form = try await pages.post("/runs/1/rerun", ["token": "none"], headers: headers)
        #expect([303, 401, 403].contains(form.status))
        let mayUseForms = [Who.operateSession, .proxyOperator].contains(who)
        if mayUseForms {
            let token = try await pages.formToken(headers)
            form = try await pages.post("/runs/1/rerun", ["token": token], headers: headers)
            #expect(form.status == 303 && form.headers["location"] == "/runs/9")
        }
        #expect(box.acted.withLock { $0 }.count == (who.level == .operate ? 1 : 0))
    }

    /// A step with network reaches loopback: it must not approve its own run.
    @Test func `whoever is not logged in acts by nothing`() async throws {
        let box = try await Box()
        box.state.withLock { $0.runs[0].heldFor = "it changes Makefile" }
        let pages = box.pages(operators: ["ada"])
        let page = try await pages.ask("GET", "/runs/1")
        #expect(page.status == 200 && !page.text.contains("method=\"post\"") && !page.text.contains(FormMark.text))
        #expect(page.text.contains("<code>pipectl pages</code>"))
        let reader = try await box.token("reader", "read")
        let attempts: [[String: String]] = [
            [:], ["x-forwarded-user": "ada"], ["authorization": "Basic YWRhOmFkYQ=="], ["authorization": "Bearer "],
            ["cookie": "pipectl-8787="], ["cookie": "pipectl-8787=\(Secrecy.random())"],
            ["origin": "http://127.0.0.1:8787", "sec-fetch-site": "same-origin"],
            ["authorization": "Bearer \(reader)"], ["authorization": "Bearer \(reader)", "x-forwarded-user": "ada"],
        ]
        for path in [
            "/runs/1/rerun", "/runs/1/cancel", "/runs/1/approve", "/runs/1/reject", "/runs/1/fix",
            "/repositories/alpha/changes/7/land", "/repositories/alpha/runs", "/tasks/1/approve", "/tasks/1/remark",
            "/tasks/1/refuse", "/tasks/1/cancel", "/tasks/1/land",
        ] {
            for headers in attempts {
                let fields = ["token": FormMark.text, "head": Sample.commit(1), "workflow": "test", "revision": "main"]
                #expect([401, 403].contains(try await pages.post(path, fields, headers: headers).status))
                let json = #"{"head": "\#(Sample.commit(1))", "workflow": "test", "revision": "main"}"#
                let all = headers.merging(["content-type": "application/json"]) { $1 }
                #expect(
                    [401, 403].contains(try await pages.ask("POST", "/api/v1\(path)", headers: all, body: json).status))
                #expect([401, 403, 404].contains(try await pages.ask("GET", path, headers: headers).status))
            }
        }
        #expect(box.acted.withLock { $0 }.isEmpty)
    }

    // MARK: Tokens

    @Test func `what is nearly a token is none`() async throws {
        let box = try await Box()
        let token = try await box.token("bot", "operate")
        let pages = box.pages
        for text in [
            "", "x", String(token.dropLast()), token + "0", token.uppercased(), String(token.dropFirst(8)),
            "pipectl_" + Secrecy.random(), String(token.prefix(16)) + Secrecy.random(), "\(token) \(token)",
            token.replacing("pipectl_", with: "pipectl-"), "%00", "' OR 1=1 --",
        ] {
            #expect(try await pages.ask("GET", "/", headers: ["authorization": "Bearer \(text)"]).status == 401)
        }
        #expect(try await pages.ask("GET", "/", headers: ["authorization": "bearer \(token)"]).status == 200)
    }

    @Test func `the store has no token, and knows the last use to the minute`() async throws {
        let box = try await Box()
        let token = try await box.token("bot", "read")
        let pages = box.pages
        func lastUse() async throws -> Date? { try await box.index.accessTokens().first?.lastUsedAt }
        #expect(try await lastUse() == nil)
        let headers = ["authorization": "Bearer \(token)"]
        _ = try await pages.ask("GET", "/", headers: headers)
        let first = try #require(try await lastUse())
        box.wait(59)
        _ = try await pages.ask("GET", "/", headers: headers)
        #expect(try await lastUse() == first)
        box.wait(1)
        _ = try await pages.ask("GET", "/", headers: headers)
        #expect(try await lastUse() == first.addingTimeInterval(60))
        #expect(!"\(try await box.index.accessTokens())".contains(token.dropFirst(16)))
    }

    // MARK: Sessions

    @Test func `a session ends when it is idle, when it is old, with its token, and by logging out`() async throws {
        let box = try await Box()
        let pages = box.pages(at: "https://ci.example.com")
        func sees(_ headers: [String: String]) async throws -> Bool {
            try await pages.ask("GET", "/", headers: headers).status == 200
        }
        let idle = try await box.browser(pages)
        box.wait(PageAccess.idleSeconds - 1)
        #expect(try await sees(idle))
        box.wait(PageAccess.idleSeconds)
        #expect(try await !sees(idle))

        let old = try await box.browser(pages)
        for _ in 0..<28 {
            #expect(try await sees(old))
            box.wait(PageAccess.longestSeconds / 28)
        }
        #expect(try await !sees(old))

        let token = try await box.token("short", "operate", expiresAfter: 600)
        let answer = try await pages.post("/login", ["token": token])
        let short = ["cookie": try #require(answer.sessionCookie)]
        #expect(try await sees(short))
        box.wait(600)
        #expect(try await !sees(short))

        let left = try await box.browser(pages)
        #expect(try await pages.post("/logout", ["token": "x"], headers: left).status == 403)
        let form = ["token": try await pages.formToken(left)]
        #expect(try await pages.post("/logout", form, headers: left).status == 303)
        #expect(try await !sees(left))
    }

    @Test func `cookies are for this site alone`() async throws {
        let box = try await Box()
        let open = try await box.pages.post("/login/\(box.links.make(for: "ada"))", [:])
        let cookie = try #require(open.cookies.first)
        #expect(cookie.hasPrefix("pipectl-8787="))
        #expect(cookie.contains("; Path=/; ") && cookie.contains("; HttpOnly; SameSite=Lax"))
        let secure = try await box.pages(at: "https://ci.example.com").post("/login/\(box.links.make(for: "ada"))", [:])
        let other = try #require(secure.cookies.first)
        #expect(other.hasPrefix("__Host-pipectl=") && other.hasSuffix("; Secure") && !other.contains("Domain"))
    }

    @Test func `a link logs one browser in, by its button, for five minutes`() async throws {
        let box = try await Box()
        let pages = box.pages(at: "http://127.0.0.1:8787")
        let link = "/login/\(box.links.make(for: "ada"))"
        for _ in 1...2 {
            let page = try await pages.ask("GET", link)
            #expect(page.status == 200 && page.cookies.isEmpty && page.text.contains("ada"))
        }
        #expect(try await pages.post(link, [:], headers: ["origin": "http://evil.example"]).status == 403)
        let answer = try await pages.post(link, [:])
        #expect(answer.status == 303 && answer.sessionCookie != nil)
        #expect(try await pages.post(link, [:]).status == 403)
        #expect(try await pages.ask("GET", link).status == 403)

        let late = "/login/\(box.links.make(for: "ada"))"
        box.wait(OneTimeLinks.lifetime)
        #expect(try await pages.post(late, [:]).status == 403)
        #expect(try await pages.post("/login/\(Secrecy.random())", [:]).status == 403)
    }

    @Test func `who fails to log in ten times waits, and others don't`() async throws {
        let box = try await Box()
        let pages = box.pages
        let token = try await box.token("bot", "operate")
        for _ in 1...SignInAttempts.most {
            #expect(try await pages.post("/login", ["token": "no"], source: "10.0.0.1").status == 403)
        }
        #expect(try await pages.post("/login", ["token": token], source: "10.0.0.1").status == 429)
        #expect(try await pages.post("/login", ["token": token], source: "10.0.0.2").status == 303)
        box.wait(SignInAttempts.window)
        #expect(try await pages.post("/login", ["token": token], source: "10.0.0.1").status == 303)
    }

    @Test(arguments: [
        ("/runs/7?a=b", "/runs/7?a=b"), ("//evil.example", "/"), ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/%2Fevil.example", "/%2Fevil.example"), ("javascript:alert(1)", "/"), ("", "/"), ("/a\r\nX: y", "/"),
    ])
    func `a login leads to a page of this site`(target: String, wanted: String) async throws {
        let box = try await Box()
        let answer = try await box.pages.post(
            "/login", ["token": try await box.token("bot", "read"), "to": target])
        #expect(answer.status == 303)
        let location = try #require(answer.headers["location"])
        #expect(location == wanted || !location.contains("\r") && location.hasPrefix("/a%0D"))
    }

    @Test func `a proxy's token is no login for a browser`() async throws {
        let box = try await Box()
        #expect(try await box.pages.post("/login", ["token": try await box.token("sso", "proxy")]).status == 403)
    }

    // MARK: Other sites

    @Test func `a form of another site, or of another session, does nothing`() async throws {
        let box = try await Box()
        let pages = box.pages
        let headers = try await box.browser(pages)
        let token = try await pages.formToken(headers)
        let other = try await pages.formToken(try await box.browser(pages))
        #expect(token != other && token != FormMark.text)
        let attempts: [([String: String], [String: String])] = [
            ([:], [:]), (["token": ""], [:]), (["token": String(token.dropLast())], [:]), (["token": token + "0"], [:]),
            (["token": FormMark.text], [:]), (["token": other], [:]),
            (["token": token], ["origin": "http://evil.example"]), (["token": token], ["origin": "null"]),
            (["token": token], ["origin": "http://127.0.0.1:9999"]),
            (["token": token], ["origin": "https://127.0.0.1:8787"]),
            (["token": token], ["sec-fetch-site": "cross-site"]), (["token": token], ["sec-fetch-site": "same-site"]),
            (["token": token], ["sec-fetch-site": "none"]),
        ]
        for (form, more) in attempts {
            let all = headers.merging(more) { $1 }
            #expect(try await pages.post("/runs/1/cancel", form, headers: all).status == 403, "\(form) \(more)")
        }
        let types = ["text/plain", "application/json", "multipart/form-data; boundary=x", ""]
        for type in types {
            let all = headers.merging(["content-type": type]) { $1 }
            #expect(try await pages.ask("POST", "/runs/1/cancel", headers: all, body: "token=\(token)").status == 400)
        }
        #expect(try await pages.ask("POST", "/api/v1/runs/1/cancel", headers: headers).status == 401)
        #expect(box.acted.withLock { $0 }.isEmpty)
        let own = headers.merging(["origin": "http://127.0.0.1:8787", "sec-fetch-site": "same-origin"]) { $1 }
        #expect(try await pages.post("/runs/1/cancel", ["token": token], headers: own).status == 303)
        #expect(box.acted.withLock { $0 }.count == 1)
    }

    @Test(arguments: ["a=1&a=2", "a=%FF", "a=%zz", "a", "=1", "a=%00", String(repeating: "a=1&", count: 300)])
    func `a form that no browser sends is refused`(body: String) {
        #expect(throws: PageProblem.self) {
            try PageForm(Array(body.utf8), type: "application/x-www-form-urlencoded")
        }
    }

    @Test func `a file that ends before its end does not look whole`() async throws {
        struct Once: PageStream, PagePieces {
            func pieces() -> any PagePieces { self }
            mutating func next() async throws -> [UInt8]? { Array("a".utf8) }
        }
        var pieces = GuardedStream(stream: Once(), pause: .zero, isFile: true) { false }.pieces()
        await #expect(throws: PageProblem.self) { _ = try await pieces.next() }
    }

    @Test func `each browser has its own token in a live page that they share`() async throws {
        struct Once: PageStream, PagePieces {
            var left = [Array("a \(FormMark.text) b \(FormMark.text)".utf8), Array("c".utf8), Array("d".utf8)]
            func pieces() -> any PagePieces { self }
            mutating func next() async throws -> [UInt8]? { left.isEmpty ? nil : left.removeFirst() }
        }
        let isValid = Mutex(true)
        let stream = GuardedStream(stream: Once(), formToken: "own", pause: .zero) { isValid.withLock { $0 } }
        var pieces = stream.pieces()
        #expect(try await pieces.next() == Array("a own b own".utf8))
        #expect(try await pieces.next() == Array("c".utf8))
        isValid.withLock { $0 = false }
        #expect(try await pieces.next() == nil)
    }
}
