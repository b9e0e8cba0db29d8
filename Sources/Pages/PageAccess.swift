import Foundation

/// Who may see the pages.
///
/// There is no login. So they are for this machine only, and nobody can act by them: a step with `.network(.allowed)`
/// reaches loopback, too, and must not approve its own run.
struct PageAccess: Sendable {
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
}
