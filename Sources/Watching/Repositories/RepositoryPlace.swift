import Foundation

/// A path or URL in a canonical form, so that different spellings of the same place are equal.
package enum RepositoryPlace {
    /// `https://user@Host.example:443/team/app.git`, `ssh://git@host.example/team/app`, `git@host.example:team/app/`
    /// and `host.example:/team/app` are the same place, as are `file:///srv/app.git` and `/srv/app/.git`.
    /// `ada@host.example:app` is relative to this user's home folder, so it differs from that of any other user.
    package static func key(_ location: String) -> String {
        if let scheme = location.range(of: "://") {
            let rest = String(location[scheme.upperBound...])
            if location[..<scheme.lowerBound].lowercased() == "file" { return pathKey(decoded(rest)) }
            return hostKey(rest, scheme: location[..<scheme.lowerBound].lowercased())
        }
        if WatchedRepository.isRemote(location), let colon = location.firstIndex(of: ":") {
            return copyKey(String(location[..<colon]), path: String(location[location.index(after: colon)...]))
        }
        return pathKey(location)
    }

    /// The key of `user@host:path`.
    ///
    /// The server resolves a relative path in the user's home folder. Only for the user `git` it is a path below the
    /// root: Git servers give such URLs for repositories that they also serve with https.
    private static func copyKey(_ address: String, path: String) -> String {
        let at = address.lastIndex(of: "@")
        let user = at.map { String(address[..<$0]) } ?? ""
        if path.hasPrefix("/") || user == "git" {
            return hostKey("\(address)/\(path.drop { $0 == "/" })", scheme: "ssh")
        }
        let host = at.map { String(address[address.index(after: $0)...]) } ?? address
        return trimmed("\(user)@\(host.lowercased()):\(path)")
    }

    private static func hostKey(_ text: String, scheme: String) -> String {
        let end = text.firstIndex(of: "/") ?? text.endIndex
        var host = text[..<end]
        if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
        // Without a host the rest would look like a path of this machine.
        if host.isEmpty { return trimmed("\(scheme)://\(text)") }
        let ports = ["https": ":443", "http": ":80", "ssh": ":22", "git+ssh": ":22", "git": ":9418"]
        if let port = ports[scheme], host.hasSuffix(port) { host = host.dropLast(port.count) }
        return trimmed(host.lowercased() + decoded(String(text[end...])))
    }

    /// Resolves links, so that a folder has one key whichever path leads to it.
    private static func pathKey(_ path: String) -> String {
        guard path.hasPrefix("/") else { return trimmed(path) }
        return trimmed(URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path)
    }

    private static func decoded(_ text: String) -> String { text.removingPercentEncoding ?? text }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        for suffix in ["/.git", ".git"] where text.hasSuffix(suffix) && text.count > suffix.count {
            text.removeLast(suffix.count)
            break
        }
        return text
    }
}
