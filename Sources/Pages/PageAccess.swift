import Crypto
import Foundation

/// Who may see the pages and act on them.
///
/// Without a login they are for this machine only: the server listens on loopback, and no proxy stands before it.
struct PageAccess: Sendable {
    /// What a form must contain: only pages of this process can know it.
    let token = (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    private let key = SymmetricKey(size: .bits256)

    /// - Throws: ``PageProblem`` for a request that was made for another host: a page of a stranger whose name was
    ///   pointed to this machine, or a proxy that lets others in.
    func check(_ request: PageRequest) throws(PageProblem) {
        guard Self.isLoopback(host: request.headers["host"] ?? "") else {
            throw PageProblem(
                .forbidden,
                "the pages are shown on this machine only; open http://localhost:PORT/, or make a tunnel "
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

    /// - Throws: ``PageProblem`` for a form that is not of this site: an action must never be another site's.
    func checkAction(_ request: PageRequest) throws(PageProblem) {
        let problem = PageProblem(.forbidden, "the form is not of this page, or too old; load the page again")
        if let site = request.headers["sec-fetch-site"], site != "same-origin" { throw problem }
        if let origin = request.headers["origin"], origin != "http://\(request.headers["host"] ?? "")",
            origin != "https://\(request.headers["host"] ?? "")"
        {
            throw problem
        }
        // The codes are compared in constant time.
        let wanted = HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key)
        guard let given = request.form["token"],
            HMAC<SHA256>.isValidAuthenticationCode(wanted, authenticating: Data(given.utf8), using: key)
        else { throw problem }
    }
}
