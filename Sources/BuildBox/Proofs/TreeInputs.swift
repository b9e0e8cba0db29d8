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
        return KeyFacts.Inputs(digest: KeyDigest.of(lines), isEmpty: lines.isEmpty)
    }

    /// Mode, id and path of each entry that matches, in Git's order; a folder that matches whole is one line. After them
    /// what links among these lead to elsewhere in the tree.
    func lines(_ patterns: [String]) throws -> [String] {
        try inputs(patterns).map(\.line)
    }

    /// The paths of what ``read(_:)`` counts, as bytes; a folder stands for all in it.
    func paths(_ patterns: [String]) throws -> Set<[UInt8]> {
        Set(try inputs(patterns).map { Array($0.path.utf8) })
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
        return KeyFacts.Tracked(digest: KeyDigest.of(found.map(\.line)), files: files)
    }

    /// As many as outputs may have at most.
    private static let mostTracked = 20_000

    /// What belongs to the inputs: entries that match, and what links among them lead to elsewhere in the tree.
    private func inputs(_ patterns: [String]) throws -> [TreeEntry] {
        let own = try matched(patterns)
        var links = TreeLinks(repository: repository, tree: tree)
        return try own + links.reached(from: own)
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
            var hasOdd = false
            for var entry in try repository.entries(ofTree: tree, recursive: false) {
                let path = prefix + entry.path
                entry.path = path
                hasOdd = hasOdd || entry.name.unicodeScalars.contains("\u{FFFD}")
                // Whoever opens what is named below a link reads what that leads to.
                if entry.kind == .symlink, globs.contains(where: { $0.leads(through: path) }) {
                    found.append(entry)
                    continue
                }
                // Its files are not in this repository, and may be there all the same.
                if entry.kind == .submodule, globs.contains(where: { $0.canMatch(below: path) }) {
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
            // Two names that are no UTF-8 may look alike here, and not to Git.
            if found.count > before, hasOdd {
                let path = String(prefix.dropLast())
                found.append(TreeEntry(name: path, path: path, kind: .tree, id: tree))
            }
        }
        try walk(tree, "", 0)
        return found
    }

    /// The files in which two trees differ, as far as they belong to what `patterns` match; folders that are equal are not
    /// entered.
    ///
    /// - Parameter limit: No more than so many.
    func differences(from old: OID, _ patterns: [String], limit: Int) throws -> [String] {
        var found: Set<[UInt8]> = []
        var folders = 0
        func compare(_ old: TreeEntry?, _ new: TreeEntry?, _ path: [UInt8], _ depth: Int) throws {
            guard depth < Self.deepest else { throw TreeTooDeep(path: String(decoding: path, as: UTF8.self)) }
            guard found.count < limit, old?.id != new?.id || old?.kind != new?.kind else { return }
            if [old, new].contains(where: { $0.map { $0.kind != .tree } ?? false }) { found.insert(path) }
            guard [old, new].contains(where: { $0?.kind == .tree }) else { return }
            let known = found.count
            func children(_ entry: TreeEntry?) throws -> [[UInt8]: TreeEntry] {
                guard let entry, entry.kind == .tree else { return [:] }
                folders += 1
                guard folders <= Self.mostFolders else {
                    throw TreeTooLarge(path: String(decoding: path, as: UTF8.self))
                }
                let list = try repository.entries(ofTree: entry.id, recursive: false)
                return Dictionary(list.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { first, _ in first })
            }
            let (before, after) = try (children(old), children(new))
            for name in Set(before.keys).union(after.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let below = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
                try compare(before[name], after[name], below, depth + 1)
            }
            // Names in it may differ that look alike here.
            if found.count == known { found.insert(path) }
        }
        func entries(_ tree: OID) throws -> [[UInt8]: TreeEntry] {
            let root = TreeEntry(name: "", path: "", kind: .tree, id: tree)
            let list =
                patterns.isEmpty ? [root] : try TreeInputs(repository: repository, tree: tree).inputs(patterns)
            return Dictionary(list.map { (Array($0.path.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = try (entries(old), entries(tree))
        for path in Set(before.keys).union(after.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try compare(before[path], after[path], path, 0)
        }
        return found.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
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
