import Foundation

/// Where a repository is, in whichever way it is written: `https://github.com/apple/swift-crypto.git` and
/// `git@github.com:apple/swift-crypto` are the same.
package struct RepositoryAddress: Sendable, Hashable, CustomStringConvertible {
    /// The machine, in lower case.
    package let host: String
    /// The folders and the name, without `.git`.
    package let path: [String]

    /// - Parameter text: A URL, the short form of ssh, or host and path alone; nil for a path on this machine.
    package init?(_ text: String) {
        var rest = text[...]
        if let scheme = rest.range(of: "://") {
            guard rest[..<scheme.lowerBound] != "file" else { return nil }
            rest = rest[scheme.upperBound...]
        } else if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/") {
            rest.replaceSubrange(colon...colon, with: "/")
        }
        if let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<end] }
        var parts = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first?.split(separator: "@").last else { return nil }
        host = String(first.split(separator: ":").first ?? "").lowercased()
        parts.removeFirst()
        parts.removeAll(where: \.isEmpty)
        if let last = parts.last, last.hasSuffix(".git") { parts[parts.count - 1] = String(last.dropLast(4)) }
        guard host.contains("."), !host.hasPrefix("."), !parts.isEmpty,
            parts.allSatisfy({ $0 != "." && $0 != ".." && !$0.isEmpty })
        else {
            return nil
        }
        path = parts
    }

    package var description: String { ([host] + path).joined(separator: "/") }
}
