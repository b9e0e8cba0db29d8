import Git
import Synchronization

/// Where the symbolic links of a tree lead in that tree: whoever reads one reads what is there.
struct TreeLinks {
    /// Links on the way to one file, as many as Linux follows (path_resolution(7)).
    static let mostHops = 40
    /// Links of one step's inputs, at most.
    static let most = 10_000

    let repository: Repository
    let tree: OID

    /// Trees that have no link in them at any depth. Most have none, and each is looked through once.
    private static let plainTrees = Mutex<Set<OID>>([])
    private static let mostPlainTrees = 50_000

    /// What the links among `entries`, and below those of them that are folders, lead to; without what is among them or
    /// below them anyway.
    ///
    /// A link that leads out of the tree, or to nothing in it, is its own text only.
    ///
    /// - Parameter entries: With their paths from the root of the tree.
    /// - Returns: Each once, with the path from the root that no link is on.
    func reached(from entries: [TreeEntry]) throws -> [TreeEntry] {
        var links: [TreeEntry] = []
        for entry in entries { try collect(entry, 0, &links) }
        if links.isEmpty { return [] }
        var covered = Set(entries.map(\.path))
        var found: [TreeEntry] = []
        var next = 0
        while next < links.count {
            guard next < Self.most else { throw TooManyLinks(path: links[next].path) }
            let link = links[next]
            next += 1
            guard let target = try target(of: link), !target.path.isReached(in: covered) else { continue }
            covered.insert(target.path)
            found.append(target)
            try collect(target, 0, &links)
        }
        return found
    }

    /// Adds the links at and below `entry`.
    private func collect(_ entry: TreeEntry, _ depth: Int, _ links: inout [TreeEntry]) throws {
        if entry.kind == .symlink { links.append(entry) }
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

    /// The entry that the kernel would find, if the tree has it.
    private func target(of link: TreeEntry) throws -> TreeEntry? {
        guard let text = try text(of: link) else { return nil }
        // From the root, for its folders are in the tree as they are named.
        var rest = Array((link.path.pathParts.dropLast() + text.pathParts).reversed())
        var folders = [TreeEntry(name: "", path: "", kind: .tree, id: tree)]
        var hops = 1
        while let part = rest.popLast() {
            if part == "." { continue }
            if part == ".." {
                folders.removeLast()
                if folders.isEmpty { return nil }
                continue
            }
            guard let folder = folders.last,
                var entry = try repository.entries(ofTree: folder.id, recursive: false).first(where: { $0.name == part }
                )
            else { return nil }
            entry.path = folder.path.isEmpty ? part : "\(folder.path)/\(part)"
            switch entry.kind {
            case .tree: folders.append(entry)
            case .symlink:
                hops += 1
                guard hops <= Self.mostHops, let text = try self.text(of: entry) else { return nil }
                rest += text.pathParts.reversed()
            case .blob, .executable, .submodule: return rest.isEmpty ? entry : nil
            }
        }
        return folders.last
    }

    /// Nil for one that leads out of any tree, or that no kernel would follow.
    private func text(of link: TreeEntry) throws -> String? {
        let bytes = try repository.blob(link.id)
        guard !bytes.isEmpty, bytes.count < 4_096, bytes[0] != UInt8(ascii: "/") else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// More links than anybody has by intention.
struct TooManyLinks: Error, CustomStringConvertible {
    var path: String
    var description: String { "its inputs have more than \(TreeLinks.most) symbolic links, as at \(path.prefix(100))" }
}

extension String {
    /// By bytes, as the kernel has it: with a combining character after it, a slash is none to Swift.
    fileprivate var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Whether the path, or a folder above it, is one of `paths`; an empty path is the root.
    func isReached(in paths: Set<String>) -> Bool {
        if paths.contains("") || paths.contains(self) { return true }
        return utf8.indices.contains { utf8[$0] == UInt8(ascii: "/") && paths.contains(String(self[..<$0])) }
    }
}
