import Store
package import Reports
import Foundation
package import Git

/// Finds the declarations of tests whose results name no file: tests of CTest, tests that timed out, and removed tests.
package struct TestLocator {
    static let maximumTests = 50
    private static let maximumFiles = 3_000
    private static let maximumBytes = 64 << 20

    private let repository: Repository
    private let commit: OID

    package init(_ repository: Repository, _ commit: OID) {
        self.repository = repository
        self.commit = commit
    }

    /// By test id, the line that declares it: `func name(`, `def name(`, `fn name(`, `NAME name`, `"name"`.
    package func places(of ids: [String]) throws -> [String: BundleEvidence.Place] {
        var wanted = ids.prefix(Self.maximumTests).map { (id: $0, parts: Self.parts($0)) }.filter {
            $0.parts.name.count > 1
        }
        guard !wanted.isEmpty else { return [:] }
        var found: [String: BundleEvidence.Place] = [:]
        var bytes = 0
        for path in try candidates(for: wanted.map(\.parts.suite)) {
            guard !wanted.isEmpty, bytes < Self.maximumBytes else { break }
            guard let file = try repository.smallFile(path, at: commit, atMost: 1 << 20) else { continue }
            bytes += file.count
            let data = Data(file)
            for (id, parts) in wanted {
                guard let offset = Self.declaration(of: parts.name, in: data) else { continue }
                found[id] = .init(file: path, line: 1 + data[..<offset].count { $0 == 0x0A })
            }
            wanted.removeAll { found[$0.id] != nil }
        }
        return found
    }

    /// The files that may contain the tests; those with the name of a suite come first.
    private func candidates(for suites: [String]) throws -> [String] {
        let kinds: Set = [
            "swift", "py", "c", "cc", "cpp", "cxx", "h", "m", "mm", "rs", "go", "js", "ts", "java", "kt", "rb", "txt",
            "sh",
        ]
        let names = Set(suites.flatMap { $0.split { "./: ".contains($0) }.map(String.init) })
        let tree = try repository.commit(commit).tree
        let paths = try repository.entries(ofTree: tree, recursive: true).filter { $0.kind == .blob }.map(\.path)
        let ranked = paths.compactMap { path -> (rank: Int, path: String)? in
            let file = path.split(separator: "/").last.map(String.init) ?? path
            let stem = String(file.prefix { $0 != "." })
            guard let kind = file.split(separator: ".").last, kinds.contains(String(kind)) else { return nil }
            if names.contains(stem) { return (0, path) }
            if file == "CMakeLists.txt" { return (1, path) }
            let lower = path.lowercased()
            if kind == "txt" { return nil }
            return (lower.contains("test") || lower.contains("spec") ? 2 : 3, path)
        }
        return ranked.sorted { ($0.rank, $0.path) < ($1.rank, $1.path) }.prefix(Self.maximumFiles).map(\.path)
    }

    /// The test's own name without cases and punctuation, and the part before it.
    private static func parts(_ id: String) -> (suite: String, name: String) {
        // The start of the parameters. "(empty)", which a runner writes for a missing suite, has nothing before it.
        let arguments = id.indices.first { index in
            "([".contains(id[index]) && index > id.startIndex && id[id.index(before: index)] != "/"
        }
        let bare = arguments.map { id[..<$0] } ?? id[...]
        let end = bare.lastIndex(of: "/")
        let name = (end.map { bare[bare.index(after: $0)...] } ?? bare).split(separator: "::").last ?? ""
        let suite = end.map { String(bare[..<$0]) } ?? ""
        return (suite, name.trimmingCharacters(in: CharacterSet(charactersIn: "` ")))
    }

    private static func declaration(of name: String, in data: Data) -> Data.Index? {
        for form in [
            "func \(name)(", "func `\(name)`(", "def \(name)(", "fn \(name)(", "NAME \(name)", "void \(name)(",
            "\"\(name)\"", "'\(name)'", "(\(name) ",
        ] {
            if let range = data.range(of: Data(form.utf8)) { return range.lowerBound }
        }
        return nil
    }
}
