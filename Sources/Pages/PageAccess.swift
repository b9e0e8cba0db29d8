import Crypto
import Foundation

/// Who may see the pages and act on them.
///
/// Without a login they are for this machine only: the server listens on loopback, and no proxy stands before it.
struct PageAccess: Sendable {
    static let cookie = "pipectl"
    private let key = SymmetricKey(size: .bits256)

    /// - Throws: ``PageProblem`` for a request that was made for another host: a page of a stranger whose name was
    ///   pointed to this machine, or a proxy that lets others in.
    func check(_ request: PageRequest) throws(PageProblem) {
        guard Self.isLoopback(host: request.headers["host"] ?? "") else {
            throw PageProblem(
                .forbidden, "the pages are shown on this machine only; open http://localhost:PORT/, or make a tunnel "
                    + "with `ssh -L PORT:localhost:PORT BUILD-BOX`")
        }
        for header in ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"] where request.headers[header] != nil {
            throw PageProblem(.forbidden, "the pages are not shown through a proxy")
        }
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

    /// A new session of a browser.
    func newSession() -> String {
        (0..<16).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    }

    /// What a form of this session must contain.
    func token(of session: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(session.utf8), using: key)
            .map { String(format: "%02x", $0) }.joined()
    }

    /// - Throws: ``PageProblem`` for a form that is not of this site: an action must never be another site's.
    func checkAction(_ request: PageRequest) throws(PageProblem) {
        let problem = PageProblem(.forbidden, "the form is not of this page, or too old; load the page again")
        if let site = request.headers["sec-fetch-site"], site != "same-origin" { throw problem }
        if let origin = request.headers["origin"] {
            guard let host = URL(string: origin).flatMap({ url in url.host.map { ($0, url.port) } }),
                [host.0, host.1.map { "\(host.0):\($0)" }].contains(request.headers["host"])
                    || "[\(host.0)]" + (host.1.map { ":\($0)" } ?? "") == request.headers["host"]
            else { throw problem }
        }
        guard let session = request.cookie(Self.cookie), let given = request.form["token"] else { throw problem }
        let wanted = Data(token(of: session).utf8)
        // Compares in constant time.
        guard HMAC<SHA256>.isValidAuthenticationCode(
            HMAC<SHA256>.authenticationCode(for: wanted, using: key),
            authenticating: Data(given.utf8), using: key)
        else { throw problem }
    }
}
