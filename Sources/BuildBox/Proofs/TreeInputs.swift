import Engine
import Git
import Pipeline

/// The tested tree as steps declare to read it: ids that Git has already, no file is opened.
struct TreeInputs {
    /// Folders below one another in a tree, at most: a hostile tree must not exhaust our stack.
    static let deepest = 256
    /// Folders that are looked into, at most: trees that hold each other many times have more paths than anybody could
    /// count, also without a file.
    static let mostFolders = 100_000

    /// The file that says how Git checks out what is beside and below it.
    static let attributes = ".gitattributes"

    let repository: Repository
    let tree: OID

    /// A whole tree, which need not be looked at.
    static func whole(_ tree: OID) -> KeyFacts.Inputs { KeyFacts.Inputs(digest: "tree \(tree.hex)") }

    /// What `patterns` match; an empty list is the whole tree.
    func read(_ patterns: [String]) throws -> KeyFacts.Inputs {
        if patterns.isEmpty { return Self.whole(tree) }
        let lines = try lines(patterns)
        return KeyFacts.Inputs(digest: StepKey.digest(of: lines), isEmpty: lines.isEmpty)
    }

    /// Mode, id and path of each entry that matches, in Git's order; a folder that matches whole is one line. After them
    /// what links among these lead to elsewhere in the tree.
    func lines(_ patterns: [String]) throws -> [String] {
        let own = try matched(patterns)
        return try (own + reached(from: own)).map(\.line)
    }

    /// What is in the tree where `outputs` go: a step finds it there, and may change it.
    ///
    /// - Throws: ``TreeTooLarge``, ``TreeTooDeep``.
    func tracked(_ outputs: [String]) throws -> KeyFacts.Tracked {
        let found = try matched(outputs)
        let globs = outputs.compactMap { try? Glob($0) }
        var files: [String] = []
        var folders = 0
        func add(_ entry: TreeEntry, _ depth: Int) throws {
            guard entry.kind == .tree else {
                if globs.contains(where: { $0.matches(entry.path) }), entry.kind != .submodule {
                    files.append(entry.path)
                }
                if files.count > Self.mostTracked { throw TreeTooLarge(path: entry.path) }
                return
            }
            guard depth < Self.deepest else { throw TreeTooDeep(path: entry.path) }
            folders += 1
            guard folders <= Self.mostFolders else { throw TreeTooLarge(path: entry.path) }
            for var child in try repository.entries(ofTree: entry.id, recursive: false) {
                child.path = "\(entry.path)/\(child.name)"
                try add(child, depth + 1)
            }
        }
        for entry in found { try add(entry, 0) }
        return KeyFacts.Tracked(digest: StepKey.digest(of: found.map(\.line)), files: files)
    }

    /// As many as outputs may have at most.
    private static let mostTracked = 20_000

    private func reached(from entries: [TreeEntry]) throws -> [TreeEntry] {
        var links = TreeLinks(repository: repository, tree: tree)
        return try links.reached(from: entries)
    }

    private func matched(_ patterns: [String]) throws -> [TreeEntry] {
        let globs = patterns.compactMap { try? Glob($0) }
        var found: [TreeEntry] = []
        var folders = 0
        func walk(_ tree: OID, _ prefix: String, _ depth: Int) throws {
            folders += 1
            guard folders <= Self.mostFolders else { throw TreeTooLarge(path: prefix) }
            let before = found.count
            var attributes: TreeEntry?
            for var entry in try repository.entries(ofTree: tree, recursive: false) {
                let path = prefix + entry.path
                entry.path = path
                // Whoever opens what is named below a link reads what that leads to.
                if entry.kind == .symlink,
                    globs.contains(where: { $0.canMatch(below: path) && !$0.pattern.contains("**") })
                {
                    found.append(entry)
                    continue
                }
                // A folder that is named stands for all in it, or its files would not count at all.
                let isWhole = globs.contains { $0.matches(path) || (entry.kind == .tree && $0.covers(path)) }
                if isWhole {
                    found.append(entry)
                } else if entry.kind == .tree, globs.contains(where: { $0.canMatch(below: path) }) {
                    guard depth < Self.deepest else { throw TreeTooDeep(path: path) }
                    try walk(entry.id, path + "/", depth + 1)
                } else if entry.name == Self.attributes {
                    attributes = entry
                }
            }
            // It decides with which bytes the files below it are checked out.
            if let attributes, found.count > before { found.append(attributes) }
        }
        try walk(tree, "", 0)
        return found
    }

    /// The paths below which two trees differ, as far as `patterns` match; folders that are equal are not entered.
    ///
    /// - Parameter limit: No more than so many.
    func differences(from old: OID, _ patterns: [String], limit: Int) throws -> [String] {
        let globs = patterns.compactMap { try? Glob($0) }
        var reached: Set<String> = []
        for tree in globs.isEmpty ? [] : [old, tree] {
            let inputs = TreeInputs(repository: repository, tree: tree)
            reached.formUnion(try inputs.reached(from: inputs.matched(patterns)).map(\.path))
        }
        func counts(_ path: String) -> Bool {
            if globs.isEmpty { return true }
            if !reached.isEmpty, path.isReached(in: reached) { return true }
            var parts = path.split(separator: "/")
            if let name = parts.last, name == Self.attributes {
                let folder = parts.dropLast().joined(separator: "/")
                if globs.contains(where: { folder.isEmpty || $0.canMatch(below: folder) }) { return true }
            }
            // A folder that is named stands for all in it.
            while !parts.isEmpty {
                if globs.contains(where: { $0.matches(parts.joined(separator: "/")) }) { return true }
                parts.removeLast()
            }
            return false
        }
        var found: [String] = []
        func compare(_ old: OID?, _ new: OID?, _ prefix: String, _ depth: Int) throws {
            guard depth < Self.deepest else { throw TreeTooDeep(path: prefix) }
            func entries(_ tree: OID?) throws -> [String: TreeEntry] {
                let list = try tree.map { try repository.entries(ofTree: $0, recursive: false) } ?? []
                return Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            }
            let (before, after) = try (entries(old), entries(new))
            for name in Set(before.keys).union(after.keys).sorted() where found.count < limit {
                let (one, other) = (before[name], after[name])
                guard one?.id != other?.id || one?.kind != other?.kind else { continue }
                let path = prefix + name
                let folders = (one?.kind == .tree ? one?.id : nil, other?.kind == .tree ? other?.id : nil)
                if folders.0 != nil || folders.1 != nil { try compare(folders.0, folders.1, path + "/", depth + 1) }
                let isFile = [one, other].contains { $0.map { $0.kind != .tree } ?? false }
                if isFile, found.count < limit, counts(path) { found.append(path) }
            }
        }
        try compare(old, tree, "", 0)
        return found
    }
}

/// More folders than are looked into for one step, or more files where its outputs go than could be kept with them.
struct TreeTooLarge: Error, CustomStringConvertible {
    var path: String
    var description: String { "the repository has too many files or folders there, as at \(path.prefix(100))" }
}

/// A tree that no file system could hold.
struct TreeTooDeep: Error, CustomStringConvertible {
    var path: String
    var description: String { "the tree is deeper than \(TreeInputs.deepest) folders at \(path.prefix(100))" }
}

extension TreeEntry {
    fileprivate var line: String {
        let word =
            switch kind {
            case .blob: "file"
            case .executable: "executable"
            case .symlink: "link"
            case .tree: "tree"
            case .submodule: "submodule"
            }
        return "\(word) \(id.hex) \(path)"
    }
}
