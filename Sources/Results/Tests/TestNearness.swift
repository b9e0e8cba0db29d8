public import Pipeline

/// How near a test lies to the files that a run's commit changes.
public struct TestNearness: Sendable {
    private let paths: Set<String>
    private let stems: Set<String>
    private let folders: Set<String>
    /// Last folders by which `Tests/GitTests` is found for `Sources/Git`.
    private let rooms: Set<String>

    public init(changedFiles: [ChangedFile]) {
        // What was deleted tests nothing any more, yet its neighbours may miss it.
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

    public var isEmpty: Bool { paths.isEmpty }

    /// Changed files whose names say that they are tests.
    public let testFiles: [String]

    /// 0 for a test whose own file was changed, then 1 to 3; nil for one that is not near.
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

    /// What a file is about: `glob` for `Glob.swift`, `Glob+Parts.swift`, `test_glob.py` and `glob.spec.ts`.
    private static func stems(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        guard let file = parts.last else { return [] }
        let name = file.prefix { $0 != "." }
        // Files that are called the same everywhere are known by their folder.
        if ["__init__", "index", "mod", "main", "lib"].contains(name) {
            return parts.dropLast().last.map { [bare($0)] } ?? []
        }
        return [bare(name), bare(name.prefix { $0 != "+" })]
    }

    /// Without what only says that it is a test, in lower case, without word separators.
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
