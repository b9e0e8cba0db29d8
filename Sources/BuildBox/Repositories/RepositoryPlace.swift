import Foundation

/// A path or URL in a form in which all ways to write it are the same.
enum RepositoryPlace {
    /// `https://user@Host.example:443/team/app.git`, `ssh://git@host.example/team/app` and `host.example:team/app/` are
    /// one place, as are `file:///srv/app.git` and `/srv/app/.git`.
    static func key(_ location: String) -> String {
        if let scheme = location.range(of: "://") {
            let rest = String(location[scheme.upperBound...])
            if location[..<scheme.lowerBound].lowercased() == "file" { return pathKey(decoded(rest)) }
            return hostKey(rest, scheme: location[..<scheme.lowerBound].lowercased())
        }
        if WatchedRepository.isRemote(location), let colon = location.firstIndex(of: ":") {
            let path = location[location.index(after: colon)...].drop { $0 == "/" }
            return hostKey("\(location[..<colon])/\(path)", scheme: "ssh")
        }
        return pathKey(location)
    }

    private static func hostKey(_ text: String, scheme: String) -> String {
        let end = text.firstIndex(of: "/") ?? text.endIndex
        var host = text[..<end]
        if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
        let ports = ["https": ":443", "http": ":80", "ssh": ":22", "git+ssh": ":22", "git": ":9418"]
        if let port = ports[scheme], host.hasSuffix(port) { host = host.dropLast(port.count) }
        return trimmed(host.lowercased() + decoded(String(text[end...])))
    }

    /// Links resolved, so that a folder has one key whichever way leads there.
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
