/// A file that a change touches, on the target and in the change.
public struct ChangedSource: Sendable {
    /// The content of a file on one side.
    public enum Content: Sendable {
        case bytes([UInt8])
        /// The file is not read because of its size, in bytes.
        case tooLarge(Int)
        case missing
        /// The file exists but can't be read: its path is not UTF-8, or it is a link or a submodule.
        case unreadable
    }

    /// The path in the change; for a removed file, the path on the target.
    public var path: String
    /// The path on the target, if it differs.
    public var oldPath: String?
    public var old: Content
    public var new: Content
    /// In lines.
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

    /// In bytes. A larger file is not read: no handwritten test is that long.
    public static let byteLimit = 2 << 20

    /// Whether the rules read the file's content, and not only its path.
    public static func isRead(_ path: String) -> Bool {
        TestPaths.isTest(path) || TestPaths.isSwift(path) || RunnerSettings.isSettings(path)
    }
}

/// The paths of tests and their resources, by the conventions of each language.
public enum TestPaths {
    /// Whether the file may declare tests, or code that tests use.
    public static func isTest(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map { $0.lowercased() }
        guard let name = parts.last, let dot = name.lastIndex(of: ".") else { return false }
        guard languages.contains(String(name[name.index(after: dot)...])) else { return false }
        return isInTestFolder(parts) || isNamedAsTest(name, stem: name[..<dot]) || name.hasSuffix(".rs")
    }

    /// Whether the program is the same without the file: it is a test, or something that only tests read.
    public static func isOnlyForTests(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map { $0.lowercased() }
        guard let name = parts.last else { return false }
        if isInTestFolder(parts) { return true }
        guard isTest(path), let dot = name.lastIndex(of: ".") else { return false }
        // Other files of Rust have tests beside the code that they test.
        return isNamedAsTest(name, stem: name[..<dot])
    }

    private static func isInTestFolder(_ parts: [String]) -> Bool {
        parts.dropLast().contains { folder in
            ["test", "tests", "spec", "specs", "__tests__", "testing"].contains(folder) || folder.hasSuffix("tests")
                || folder.hasSuffix("-test") || folder.hasSuffix("_test") || folder.hasSuffix("_tests")
        }
    }

    private static func isNamedAsTest(_ name: String, stem: Substring) -> Bool {
        stem.hasPrefix("test_") || stem.hasSuffix("_test") || stem.hasSuffix("_tests") || stem.hasSuffix("tests")
            || stem.hasSuffix(".test") || stem.hasSuffix(".spec") || stem.hasSuffix("test") && name.hasSuffix(".swift")
    }

    private static let languages: Set<String> = [
        "swift", "py", "rs", "go", "js", "jsx", "ts", "tsx", "mjs", "cc", "cpp", "cxx",
    ]

    static func isSwift(_ path: String) -> Bool { path.hasSuffix(".swift") }

    /// Whether it is a Swift file outside of the tests, which may declare names that tests use.
    static func isSwiftSource(_ path: String) -> Bool { isSwift(path) && !isTest(path) && !isSwiftManifest(path) }

    static func isSwiftManifest(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name == "Package.swift" || name.hasPrefix("Package@swift-") && name.hasSuffix(".swift")
    }

    /// Whether it is a snapshot: a result that a test recorded and compares with.
    static func isSnapshot(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        guard let name = parts.last else { return false }
        return parts.dropLast().contains {
            ["__Snapshots__", "__snapshots__", "Snapshots", "snapshots", "golden"].contains($0)
        }
            || [".snap", ".snapshot", ".golden", ".approved.txt", ".expected"].contains { name.hasSuffix($0) }
    }

    /// Whether it is neither a test, nor a snapshot, nor documentation. A change of such a file can justify a changed
    /// snapshot.
    static func isSource(_ path: String) -> Bool {
        !isTest(path) && !isSnapshot(path) && !path.hasSuffix(".md") && !path.hasSuffix(".txt")
            && !path.hasPrefix("docs/") && !path.hasPrefix(".github/") && !path.hasSuffix(".yml")
    }
}
