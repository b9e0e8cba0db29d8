package import ProofKeys
import Engine
package import Git
import Pipeline

/// The part of the tested tree that steps declare as inputs, by ids that Git has already. No file is opened.
package struct TreeInputs {
    /// Maximum depth of folders in a tree, so that a hostile tree can't exhaust the stack.
    static let deepest = 256
    /// Maximum number of folders that are read. Trees that contain each other many times have an astronomical number of
    /// paths, even without a file.
    static let mostFolders = 100_000

    /// The file that tells Git how to check out files beside and below it.
    static let attributes = ".gitattributes"

    package let repository: Repository
    package let tree: OID

    package init(repository: Repository, tree: OID) {
        self.repository = repository
        self.tree = tree
    }

    /// Stands for the whole tree, which need not be read.
    package static func whole(_ tree: OID) -> KeyFacts.Inputs { KeyFacts.Inputs(digest: "tree \(tree.hex)") }

    /// Reads what `patterns` match; an empty list is the whole tree.
    package func read(_ patterns: [String]) throws -> KeyFacts.Inputs {
        if patterns.isEmpty { return Self.whole(tree) }
        let lines = try lines(patterns)
        return KeyFacts.Inputs(digest: KeyDigest.of(lines), isEmpty: lines.isEmpty)
    }

    /// Mode, id and path of each matching entry, in Git's order; a folder that matches as a whole is one line. Then
    /// come the targets in the tree of links among these.
    package func lines(_ patterns: [String]) throws -> [String] {
        try inputs(patterns).map(\.line)
    }

    /// The paths that ``read(_:)`` covers, as bytes; a folder stands for its whole content.
    package func paths(_ patterns: [String]) throws -> Set<[UInt8]> {
        Set(try inputs(patterns).map { Array($0.path.utf8) })
    }

    /// Reads the entries at the paths of `outputs`: a step finds them there and may change them.
    ///
    /// - Throws: ``TreeTooLarge``, ``TreeTooDeep``.
    package func tracked(_ outputs: [String]) throws -> KeyFacts.Tracked {
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

    /// The same limit as for outputs.
    private static let mostTracked = 20_000

    /// The entries that belong to the inputs: those that match, and the targets of links among them.
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
                // A pattern below a link covers the link's target.
                if entry.kind == .symlink, globs.contains(where: { $0.leads(through: path) }) {
                    found.append(entry)
                    continue
                }
                // Its files are not in this repository, but may exist in the workspace.
                if entry.kind == .submodule, globs.contains(where: { $0.canMatch(below: path) }) {
                    found.append(entry)
                    continue
                }
                // A named folder stands for its whole content, or its files would not be covered.
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
            // This file determines the bytes with which files below it are checked out.
            if let attributes, found.count > before { found.append(attributes) }
            // Two names that are not UTF-8 may look alike here, but not to Git.
            if found.count > before, hasOdd {
                let path = String(prefix.dropLast())
                found.append(TreeEntry(name: path, path: path, kind: .tree, id: tree))
            }
        }
        try walk(tree, "", 0)
        return found
    }

    /// The files that match `patterns` and differ between two trees. Folders with equal ids are skipped.
    ///
    /// - Parameter limit: Maximum number of files that are returned.
    package func differences(from old: OID, _ patterns: [String], limit: Int) throws -> [String] {
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
            // Names may differ although they look alike as text.
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

/// The tree has more folders, or more files at the paths of a step's outputs, than the limits allow.
struct TreeTooLarge: Error, CustomStringConvertible {
    var path: String
    var description: String { "the repository has too many files or folders there, as at \(path.prefix(100))" }
}

/// The tree is nested deeper than any file system allows.
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
