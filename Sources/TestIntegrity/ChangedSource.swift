/// A file that a change touches, on both sides.
public struct ChangedSource: Sendable {
    /// What a file has.
    public enum Content: Sendable {
        case bytes([UInt8])
        /// So many bytes, which nobody reads.
        case tooLarge(Int)
        case missing
        /// It is there, and can't be looked up: its path is no UTF-8, or it is a link or another repository.
        case unreadable
    }

    /// On the side of the change; the old path of a file that it removes.
    public var path: String
    /// On the target, where it is another one.
    public var oldPath: String?
    public var old: Content
    public var new: Content
    /// Lines.
    public var additions: Int
    public var deletions: Int

    public init(
        path: String, oldPath: String? = nil, old: Content, new: Content, additions: Int = 0, deletions: Int = 0
    ) {
        self.path = path
        self.oldPath = oldPath
        self.old = old
        self.new = new
        self.additions = additions
        self.deletions = deletions
    }

    /// A larger one is not read: no test that a person wrote is so long.
    public static let byteLimit = 2 << 20

    /// Whether the rules read what is in it, and not only its path.
    public static func isRead(_ path: String) -> Bool {
        TestPaths.isTest(path) || TestPaths.isSwift(path) || RunnerSettings.isSettings(path)
    }
}

/// Where tests and what belongs to them are kept, by the customs of each language.
public enum TestPaths {
    /// Whether the file may declare tests, or what they use.
    public static func isTest(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map { $0.lowercased() }
        guard let name = parts.last, let dot = name.lastIndex(of: ".") else { return false }
        let stem = name[..<dot]
        guard languages.contains(String(name[name.index(after: dot)...])) else { return false }
        if parts.dropLast().contains(where: { folder in
            ["test", "tests", "spec", "specs", "__tests__", "testing"].contains(folder) || folder.hasSuffix("tests")
                || folder.hasSuffix("-test") || folder.hasSuffix("_test") || folder.hasSuffix("_tests")
        }) {
            return true
        }
        return stem.hasPrefix("test_") || stem.hasSuffix("_test") || stem.hasSuffix("_tests") || stem.hasSuffix("tests")
            || stem.hasSuffix(".test") || stem.hasSuffix(".spec") || stem.hasSuffix("test") && name.hasSuffix(".swift")
            || name.hasSuffix(".rs")
    }

    private static let languages: Set<String> = [
        "swift", "py", "rs", "go", "js", "jsx", "ts", "tsx", "mjs", "cc", "cpp", "cxx",
    ]

    static func isSwift(_ path: String) -> Bool { path.hasSuffix(".swift") }

    /// A file of Swift beside the tests, which may declare what these use.
    static func isSwiftSource(_ path: String) -> Bool { isSwift(path) && !isTest(path) && !isSwiftManifest(path) }

    static func isSwiftManifest(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name == "Package.swift" || name.hasPrefix("Package@swift-") && name.hasSuffix(".swift")
    }

    /// Results that a test recorded, and compares with.
    static func isSnapshot(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        guard let name = parts.last else { return false }
        return parts.dropLast().contains {
            ["__Snapshots__", "__snapshots__", "Snapshots", "snapshots", "golden"].contains($0)
        }
            || [".snap", ".snapshot", ".golden", ".approved.txt", ".expected"].contains { name.hasSuffix($0) }
    }

    /// Neither test, snapshot, nor words for people: what a snapshot can have changed for.
    static func isSource(_ path: String) -> Bool {
        !isTest(path) && !isSnapshot(path) && !path.hasSuffix(".md") && !path.hasSuffix(".txt")
            && !path.hasPrefix("docs/") && !path.hasPrefix(".github/") && !path.hasSuffix(".yml")
    }
}
