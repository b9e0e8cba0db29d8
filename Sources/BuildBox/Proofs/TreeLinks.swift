import Engine
import Git
import Synchronization

/// Where the symbolic links of a tree lead in that tree: whoever reads one reads what is there.
struct TreeLinks {
    /// Links on the way to one file, as many as Linux follows (path_resolution(7)).
    static let mostHops = 40
    /// Links of one step's inputs, at most.
    static let most = 10_000
    /// Names looked up for all of them, at most: the text of each link may have thousands.
    static let mostNames = 1_000_000

    private let repository: Repository
    private let tree: OID
    /// By name, of the folders that links lead through.
    private var folders: [OID: [String: TreeEntry]] = [:]
    private var names = 0

    init(repository: Repository, tree: OID) {
        self.repository = repository
        self.tree = tree
    }

    /// Trees that have no link in them at any depth. Most have none, and each is looked through once.
    private static let plainTrees = Mutex<Set<OID>>([])
    private static let mostPlainTrees = 50_000

    /// What the links among `entries`, and below those of them that are folders, lead to, with the links and the
    /// `.gitattributes` on the way; without what is among them or below them anyway.
    ///
    /// Of a link that leads out of the tree, or to nothing in it, only links count that are on the way.
    ///
    /// - Parameter entries: With their paths from the root of the tree.
    /// - Returns: Each once, with the path from the root that no link is on.
    /// - Throws: ``TooManyLinks``, ``TreeTooDeep``.
    mutating func reached(from entries: [TreeEntry]) throws -> [TreeEntry] {
        var links: [TreeEntry] = []
        for entry in entries { try collect(entry, 0, &links) }
        if links.isEmpty { return [] }
        var covered = Set(entries.map(\.path))
        var found: [TreeEntry] = []
        func add(_ entry: TreeEntry) -> Bool {
            guard !entry.path.isReached(in: covered) else { return false }
            covered.insert(entry.path)
            found.append(entry)
            return true
        }
        var next = 0
        while next < links.count {
            let link = links[next]
            next += 1
            var passed: [TreeEntry] = []
            let way = try way(of: link, &passed)
            for link in passed { _ = add(link) }
            guard let target = way.last, add(target) else { continue }
            try collect(target, 0, &links)
            for folder in way.dropLast() where folder.kind == .tree {
                guard var attributes = try child(TreeInputs.attributes, of: folder.id) else { continue }
                attributes.path = folder.path.isEmpty ? attributes.name : "\(folder.path)/\(attributes.name)"
                _ = add(attributes)
            }
        }
        return found
    }

    /// Adds the links at and below `entry`.
    private func collect(_ entry: TreeEntry, _ depth: Int, _ links: inout [TreeEntry]) throws {
        if entry.kind == .symlink {
            // Here, for trees that hold each other many times have more paths than anybody could count.
            guard links.count < Self.most else { throw TooManyLinks(path: entry.path) }
            links.append(entry)
        }
        guard entry.kind == .tree, !Self.plainTrees.withLock({ $0.contains(entry.id) }) else { return }
        guard depth < TreeInputs.deepest else { throw TreeTooDeep(path: entry.path) }
        let before = links.count
        for var child in try repository.entries(ofTree: entry.id, recursive: false) {
            guard child.kind == .symlink || child.kind == .tree else { continue }
            child.path = entry.path.isEmpty ? child.name : "\(entry.path)/\(child.name)"
            try collect(child, depth + 1, &links)
        }
        guard links.count == before else { return }
        Self.plainTrees.withLock { trees in
            if trees.count >= Self.mostPlainTrees { trees = [] }
            trees.insert(entry.id)
        }
    }

    /// The folders, from the root on, to the entry that the kernel would find, which is the last one; nothing if the tree
    /// has none.
    ///
    /// - Parameter passed: Gets the other links that it would follow.
    private mutating func way(of link: TreeEntry, _ passed: inout [TreeEntry]) throws -> [TreeEntry] {
        let root = TreeEntry(name: "", path: "", kind: .tree, id: tree)
        var way = [root]
        var rest: [String] = []
        func follow(_ text: String) -> Bool {
            if let inside = text.insideWorkspace {
                rest += inside.pathParts.reversed()
                way = [root]
                return true
            }
            rest += text.pathParts.reversed()
            return text.utf8.first != UInt8(ascii: "/")
        }
        guard let text = try text(of: link), follow(text) else { return [] }
        // From the root, for its folders are in the tree as they are named.
        if text.insideWorkspace == nil { rest += link.path.pathParts.dropLast().reversed() }
        var hops = 1
        while let part = rest.popLast() {
            names += 1
            guard names <= Self.mostNames else { throw TooManyLinks(path: link.path) }
            if part == "." { continue }
            if part == ".." {
                way.removeLast()
                if way.isEmpty { return [] }
                continue
            }
            guard let folder = way.last, var entry = try child(part, of: folder.id) else { return [] }
            entry.path = folder.path.isEmpty ? part : "\(folder.path)/\(part)"
            switch entry.kind {
            case .tree: way.append(entry)
            case .symlink:
                hops += 1
                passed.append(entry)
                guard hops <= Self.mostHops, let text = try self.text(of: entry), follow(text) else { return [] }
            case .blob, .executable, .submodule: return rest.isEmpty ? way + [entry] : []
            }
        }
        return way
    }

    private mutating func child(_ name: String, of tree: OID) throws -> TreeEntry? {
        if let known = folders[tree] { return known[name] }
        let entries = try repository.entries(ofTree: tree, recursive: false)
        let byName = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        folders[tree] = byName
        return byName[name]
    }

    /// Nil for one that no kernel would follow.
    private func text(of link: TreeEntry) throws -> String? {
        guard (1..<4_096).contains(try repository.size(of: link.id)) else { return nil }
        return String(decoding: try repository.blob(link.id), as: UTF8.self)
    }
}

/// More links than anybody has by intention.
struct TooManyLinks: Error, CustomStringConvertible {
    var path: String
    var description: String {
        "its inputs have more than \(TreeLinks.most) symbolic links, or such long ones, as at \(path.prefix(100))"
    }
}

extension String {
    /// By bytes, as the kernel has it: with a combining character after it, a slash is none to Swift.
    fileprivate var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// What is left of a path in the workspace where sandboxes show that; nil for another path.
    fileprivate var insideWorkspace: String? {
        if self == Sandbox.Place.workspace { return "" }
        let prefix = Sandbox.Place.workspace + "/"
        return hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }

    /// Whether the path, or a folder above it, is one of `paths`; an empty path is the root.
    func isReached(in paths: Set<String>) -> Bool {
        if paths.contains("") || paths.contains(self) { return true }
        return utf8.indices.contains { utf8[$0] == UInt8(ascii: "/") && paths.contains(String(self[..<$0])) }
    }
}
