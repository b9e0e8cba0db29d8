import Git

/// Finds the file of a commit that a tool's path means.
struct RepositoryPaths {
    private let repository: Repository
    private let commit: OID
    /// All paths by file name; read when first needed.
    private var byName: [Substring: [String]]?

    init(_ repository: Repository, _ commit: OID) {
        self.repository = repository
        self.commit = commit
    }

    /// The path of the file, relative to the repository; nil if no file, or several, could be meant.
    ///
    /// - Parameter folder: The tool's working directory.
    mutating func path(_ text: String, in folder: String?) -> String? {
        guard let plain = Self.normal(text) else { return nil }
        let candidates = [folder.flatMap { Self.normal("\($0)/\(plain)") }, plain].compactMap { $0 }
        for candidate in candidates {
            if let entry = try? repository.entry(candidate, at: commit), entry.kind != .tree { return candidate }
        }
        // Swift prints Module/File.swift for Sources/Module/Parts/File.swift, and some tools print File.swift alone.
        let parts = plain.split(separator: "/")
        guard let name = parts.last else { return nil }
        let known = files()[name] ?? []
        if known.count == 1 { return known[0] }
        for count in stride(from: min(parts.count, 64), through: 2, by: -1) {
            let suffix = "/" + parts.suffix(count).joined(separator: "/")
            let fitting = known.filter { "/\($0)".hasSuffix(suffix) }
            if fitting.count == 1 { return fitting[0] }
        }
        guard parts.count == 2 else { return nil }
        let inModule = known.filter { $0.split(separator: "/").dropLast().contains(parts[0]) }
        return inModule.count == 1 ? inModule[0] : nil
    }

    /// The path without `.` and `..`; nil if it leaves the repository.
    private static func normal(_ path: String) -> String? {
        guard path.utf8.count <= 4_096 else { return nil }
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else {
                parts.append(part)
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    private mutating func files() -> [Substring: [String]] {
        if let byName { return byName }
        var all: [Substring: [String]] = [:]
        let entries = (try? repository.commit(commit)).flatMap {
            try? repository.entries(ofTree: $0.tree, recursive: true)
        }
        for entry in entries ?? [] where entry.kind != .tree && entry.kind != .submodule {
            all[entry.path.split(separator: "/").last ?? "", default: []].append(entry.path)
        }
        byName = all
        return all
    }
}
