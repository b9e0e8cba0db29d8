import Engine
import Git
import Sandbox
import Synchronization

/// Resolves the symbolic links of a tree within the tree: a step that reads a link reads its target.
struct TreeLinks {
    /// Maximum number of links on the way to one file, as in Linux (path_resolution(7)).
    static let mostHops = 40
    /// Maximum number of links among one step's inputs.
    static let most = 10_000
    /// Maximum number of names that are looked up for all of them: the target of one link may have thousands.
    static let mostNames = 1_000_000

    private let repository: Repository
    private let tree: OID
    /// Folders through which links lead, by their names as bytes.
    private var folders: [OID: [[UInt8]: TreeEntry]] = [:]
    private var names = 0

    init(repository: Repository, tree: OID) {
        self.repository = repository
        self.tree = tree
    }

    /// Trees without a link at any depth, which is true of most; each is searched once.
    private static let plainTrees = Mutex<Set<OID>>([])
    private static let mostPlainTrees = 50_000

    /// The targets of links among and below `entries`, with the links and `.gitattributes` files on the way, except for
    /// what `entries` cover already.
    ///
    /// Of a link that leads out of the tree or to nothing, only the links on the way count.
    ///
    /// - Parameter entries: With paths from the root of the tree.
    /// - Returns: Each entry once, with its path from the root after all links are resolved.
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
            // Counting here is necessary, because trees that contain each other many times have an astronomical number
            // of paths.
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

    /// The folders from the root of the tree to the entry that the kernel would find, which comes last; empty if the
    /// tree has none.
    ///
    /// A path that leaves the tree continues in the root of the sandbox, in which the tree is the workspace.
    ///
    /// - Parameter passed: Receives the other links that the kernel would follow.
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
        // This starts at the root, because its folders are not links.
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

    /// Nil for a link that no kernel would follow.
    private func text(of link: TreeEntry) throws -> String? {
        guard (1..<4_096).contains(try repository.size(of: link.id)) else { return nil }
        return String(decoding: try repository.blob(link.id), as: UTF8.self)
    }
}

/// There are more links than anybody has by intention.
struct TooManyLinks: Error, CustomStringConvertible {
    var path: String
    var description: String {
        "its inputs have more than \(TreeLinks.most) symbolic links, or such long ones, as at \(path.prefix(100))"
    }
}

extension String {
    /// The path is split by bytes, as the kernel does it: Swift does not find a slash that a combining character
    /// follows.
    fileprivate var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Whether the path, or a folder above it, is one of `paths`; an empty path is the root.
    ///
    /// - Parameter paths: As bytes, because Swift treats some names as equal that Git and the file system tell apart.
    func isReached(in paths: Set<[UInt8]>) -> Bool {
        let bytes = Array(utf8)
        if paths.contains([]) || paths.contains(bytes) { return true }
        return bytes.indices.contains { bytes[$0] == UInt8(ascii: "/") && paths.contains(Array(bytes[..<$0])) }
    }
}
