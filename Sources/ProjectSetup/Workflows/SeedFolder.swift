import Foundation

/// A folder of a repository, inspected without running any of its code.
struct SeedFolder {
    /// The repository's top folder.
    let top: String
    /// Relative to the top, without a slash at the end; empty for the top itself.
    let path: String
    let names: Set<String>

    init(top: String, path: String = "") {
        self.top = top
        self.path = path
        let folder = path.isEmpty ? top : "\(top)/\(path)"
        names = Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    /// The absolute path.
    var location: String { path.isEmpty ? top : "\(top)/\(path)" }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(location)/\(name)") }

    /// The first of these names that exists.
    func first(_ names: String...) -> String? { names.first(where: has) }

    /// A file's text; nil if it does not exist, is not a regular file, is larger than 1 MiB, or is not UTF-8.
    func text(_ name: String) -> String? {
        let file = URL(fileURLWithPath: "\(location)/\(name)").resolvingSymlinksInPath().path
        // Check the type first: opening a pipe would wait for a writer.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file),
            attributes[.type] as? FileAttributeType == .typeRegular,
            (attributes[.size] as? Int ?? .max) <= 1 << 20
        else { return nil }
        return try? String(contentsOfFile: file, encoding: .utf8)
    }

    /// Whether a file exists and Git does not ignore it.
    func keeps(_ name: String) -> Bool {
        let ignored = (text(".gitignore") ?? "").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return has(name) && !ignored.contains(name) && !ignored.contains("/" + name)
    }

    /// Folders that usually contain no project of the repository itself, by their names in lower case.
    static let ignoredFolders: Set<String> = [
        "workflows", "node_modules", "vendor", "third_party", "third-party", "thirdparty", "external", "externals",
        "deps", "dependencies", "submodules", "build", "dist", "out", "target", "bin", "obj", "venv", "env",
        "test", "tests", "testdata", "fixtures", "example", "examples", "sample", "samples", "demo", "demos",
        "benchmark", "benchmarks", "bench", "doc", "docs", "documentation", "website", "site", "fuzz", "fuzzing",
        "contrib", "scripts", "script", "tools", "templates", "template", "pods", "carthage",
    ]

    /// Direct subfolders that may be projects of their own.
    var subfolders: [SeedFolder] {
        names.sorted().compactMap { name in
            let isPlain = name.utf8.allSatisfy { byte in
                let scalar = Unicode.Scalar(byte)
                return scalar.properties.isAlphabetic && byte < 0x80 || "0123456789._-".unicodeScalars.contains(scalar)
            }
            guard isPlain, !name.hasPrefix("."), !name.hasPrefix("-"),
                !SeedFolder.ignoredFolders.contains(name.lowercased()), isFolder(name)
            else { return nil }
            return SeedFolder(top: top, path: path.isEmpty ? name : "\(path)/\(name)")
        }
    }

    /// False for a link to a folder: it may lead out of the repository, or form a cycle.
    private func isFolder(_ name: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(location)/\(name)")
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    /// Whether a file in this folder, up to 10 levels down, satisfies `isWanted`; at most 30,000 entries are checked.
    ///
    /// Folders that tools fill are skipped.
    func contains(where isWanted: (_ path: String) -> Bool) -> Bool {
        let filled: Set<String> = [
            ".git", "node_modules", "vendor", ".build", "build", "target", ".venv", "venv", ".tox",
        ]
        guard let walk = FileManager.default.enumerator(atPath: location) else { return false }
        var entries = 0
        while let path = walk.nextObject() as? String {
            entries += 1
            if entries > 30_000 { return false }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            if walk.level > 10 || filled.contains(name) {
                walk.skipDescendants()
                continue
            }
            if isWanted(path) { return true }
        }
        return false
    }

    /// A file's name without its extension.
    static func stem(_ name: String) -> String { name.split(separator: ".").dropLast().joined(separator: ".") }

    /// The last part of a path.
    static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
