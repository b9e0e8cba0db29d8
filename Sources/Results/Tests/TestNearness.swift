public import Pipeline

/// How near a test is to the files that a run's commit changes.
public struct TestNearness: Sendable {
    private let paths: Set<String>
    private let stems: Set<String>
    private let folders: Set<String>
    /// The last folder names: they find `Tests/GitTests` for `Sources/Git`.
    private let rooms: Set<String>

    public init(changedFiles: [ChangedFile]) {
        // A deleted file has no tests any more, but its neighbours may have depended on it.
        let changed = changedFiles.flatMap { [$0.path] + ($0.oldPath.map { [$0] } ?? []) }
        paths = Set(changed)
        stems = Set(changed.flatMap(TestNearness.stems)).subtracting([""])
        testFiles = changedFiles.filter { $0.status != .deleted }.map(\.path).filter { path in
            let name = (path.split(separator: "/").last ?? "").prefix { $0 != "." }
            let plain = name.lowercased().filter { $0 != "_" && $0 != "-" }
            return path.contains(".") && TestNearness.bare(name) != plain && !TestNearness.bare(name).isEmpty
        }
        folders = Set(changed.map(TestNearness.folder))
        rooms = Set(folders.map { TestNearness.bare($0.split(separator: "/").last ?? "") }).subtracting([
            "", "src", "sources",
        ])
    }

    /// Whether no changed file can have tests near it.
    public var isEmpty: Bool { paths.isEmpty }

    /// Changed files whose names look like tests.
    public let testFiles: [String]

    /// 0 for a test whose own file was changed, 1 to 3 for tests further away, nil for a test that is not near.
    public func distance(file: String?, suite: String) -> Int? {
        guard let file, !file.isEmpty else {
            let parts = suite.split { ".:/".contains($0) }
            return parts.contains { stems.contains(TestNearness.bare($0)) } ? 1 : nil
        }
        if paths.contains(file) { return 0 }
        if TestNearness.stems(of: file).contains(where: stems.contains) { return 1 }
        let folder = TestNearness.folder(of: file)
        if folders.contains(folder) { return 2 }
        return rooms.contains(TestNearness.bare(folder.split(separator: "/").last ?? "")) ? 3 : nil
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// The subject of a file: `glob` for `Glob.swift`, `Glob+Parts.swift`, `test_glob.py` and `glob.spec.ts`.
    private static func stems(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        guard let file = parts.last else { return [] }
        let name = file.prefix { $0 != "." }
        // Files whose names say nothing are known by their folder.
        if ["__init__", "index", "mod", "main", "lib"].contains(name) {
            return parts.dropLast().last.map { [bare($0)] } ?? []
        }
        return [bare(name), bare(name.prefix { $0 != "+" })]
    }

    /// The name in lower case, without word separators and without the parts that only mark a test.
    private static func bare(_ name: Substring) -> String {
        let letters = name.lowercased().filter { $0 != "_" && $0 != "-" }[...]
        for suffix in ["tests", "test", "spec"] where letters.hasSuffix(suffix) {
            return String(letters.dropLast(suffix.count))
        }
        for prefix in ["tests", "test"] where letters.hasPrefix(prefix) {
            return String(letters.dropFirst(prefix.count))
        }
        return String(letters)
    }
}
