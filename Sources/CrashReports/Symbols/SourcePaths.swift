import ForeignText

/// Finds the files of a repository that paths of another machine mean.
public struct SourcePaths: Sendable {
    /// The paths below the root, by the name of the file.
    private let byName: [String: [[Substring]]]

    /// - Parameter paths: The files of the tree, below its root.
    public init(_ paths: some Sequence<String>) {
        var byName: [String: [[Substring]]] = [:]
        for path in paths {
            let parts = path.split(separator: "/")
            if let name = parts.last { byName[String(name), default: []].append(parts) }
        }
        self.byName = byName
    }

    /// The path below the root that ends like `path` the longest; nil if several do, or none.
    ///
    /// A name alone is enough if only one file has it: Apple's reports have no more, and Swift's fatal errors put the
    /// module before it, which need not be a folder. A whole path of another machine needs a folder in common unless the
    /// file lies at the root.
    public func path(of path: String) -> String? {
        let parts = Self.parts(path)
        guard let name = parts.last, let candidates = byName[name] else { return nil }
        var best: (length: Int, path: [Substring], isUnique: Bool)?
        for candidate in candidates {
            let length = zip(candidate.reversed(), parts.reversed()).prefix { $0 == $1[...] }.count
            if let known = best, known.length >= length {
                if known.length == length { best?.isUnique = false }
            } else {
                best = (length, candidate, true)
            }
        }
        let isShort = parts.count <= 2 && path.utf8.first != UInt8(ascii: "/")
        guard let best, best.isUnique, best.length > 1 || isShort || best.path.count == 1 else { return nil }
        return best.path.joined(separator: "/")
    }

    /// The parts of a path of any system, without `.` and with `..` resolved.
    private static func parts(_ path: String) -> [String] {
        var parts: [String] = []
        for part in path.split(whereSeparator: { $0 == "/" || $0 == "\\" }) {
            switch part {
            case ".": continue
            case "..": if !parts.isEmpty { parts.removeLast() }
            default: parts.append(String(part))
            }
        }
        return parts
    }
}
