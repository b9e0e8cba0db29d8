import Engine
import Git
import Sandbox
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
    /// By the bytes of the name, of the folders that links lead through.
    private var folders: [OID: [[UInt8]: TreeEntry]] = [:]
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
        var covered = Set(entries.map { Array($0.path.utf8) })
        var found: [TreeEntry] = []
        func add(_ entry: TreeEntry) -> Bool {
            guard !entry.path.isReached(in: covered) else { return false }
            covered.insert(Array(entry.path.utf8))
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

    /// The folders, from the root of the tree on, to the entry that the kernel would find, which is the last one; nothing
    /// if the tree has none.
    ///
    /// Where it leaves the tree it is in the root of the sandbox, in which the tree is the workspace.
    ///
    /// - Parameter passed: Gets the other links that it would follow.
    private mutating func way(of link: TreeEntry, _ passed: inout [TreeEntry]) throws -> [TreeEntry] {
        let root = TreeEntry(name: "", path: "", kind: .tree, id: tree)
        var way = [root]
        var rest: [String] = []
        func follow(_ text: String) {
            if text.utf8.first == UInt8(ascii: "/") { way = [] }
            rest += text.pathParts.reversed()
        }
        guard let text = try text(of: link) else { return [] }
        follow(text)
        // From the root, for its folders are in the tree as they are named.
        if !way.isEmpty { rest += link.path.pathParts.dropLast().reversed() }
        var hops = 1
        while let part = rest.popLast() {
            names += 1
            guard names <= Self.mostNames else { throw TooManyLinks(path: link.path) }
            if part == "." { continue }
            if part == ".." {
                _ = way.popLast()
                continue
            }
            if way.isEmpty {
                guard "/" + part == Sandbox.Place.workspace else { return [] }
                way = [root]
                continue
            }
            guard let folder = way.last, var entry = try child(part, of: folder.id) else { return [] }
            entry.path = folder.path.isEmpty ? part : "\(folder.path)/\(part)"
            switch entry.kind {
            case .tree: way.append(entry)
            case .symlink:
                hops += 1
                passed.append(entry)
                guard hops <= Self.mostHops, let text = try self.text(of: entry) else { return [] }
                follow(text)
            case .blob, .executable, .submodule: return rest.isEmpty ? way + [entry] : []
            }
        }
        return way
    }

    private mutating func child(_ name: String, of tree: OID) throws -> TreeEntry? {
        if let known = folders[tree] { return known[Array(name.utf8)] }
        let entries = try repository.entries(ofTree: tree, recursive: false)
        let byName = Dictionary(entries.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        folders[tree] = byName
        return byName[Array(name.utf8)]
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

    /// Whether the path, or a folder above it, is one of `paths`; an empty path is the root.
    ///
    /// - Parameter paths: As bytes: to Swift, names are equal that Git and the file system tell apart.
    func isReached(in paths: Set<[UInt8]>) -> Bool {
        let bytes = Array(utf8)
        if paths.contains([]) || paths.contains(bytes) { return true }
        return bytes.indices.contains { bytes[$0] == UInt8(ascii: "/") && paths.contains(Array(bytes[..<$0])) }
    }
}
