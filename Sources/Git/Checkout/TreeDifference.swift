internal import CGit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The files of a tree that differ from an older tree. Paths are bytes with slashes, as in Git.
public struct TreeDifference: Sendable {
    /// A path that the newer tree does not have. A folder stands for everything in it.
    public struct Removal: Sendable, Equatable {
        /// Bytes with slashes, as in Git.
        public var path: [UInt8]
        /// Whether it stands for a folder with everything in it.
        public var isFolder: Bool
    }

    /// Files, links and submodules of the newer tree that the older one does not have, or has with another content.
    public var written: [[UInt8]] = []
    /// What the newer tree does not have any more.
    public var removed: [Removal] = []
    /// What the older tree has where the newer one has a folder instead of a file, or the other way round. The new file
    /// or folder hides it.
    var replaced: [Removal] = []
    /// The submodules in ``written``. Each is an empty folder, which hides nothing that is there, tracked or not.
    public var emptied: [[UInt8]] = []
    /// Submodules that only one of the trees has, or that differ in their commit.
    var submodules: [[UInt8]] = []

    /// The number of tree entries that were examined.
    private var looked = 0
    private var pathBytes = 0
    private var most = TreeLine.most

    /// - Parameter most: The most entries that may be examined.
    fileprivate init(looking most: Int) { self.most = most }

    /// Counts one more entry. Trees that contain each other many times have more paths than can be visited.
    fileprivate mutating func look(_ path: Int) throws(GitError) {
        looked += 1
        pathBytes += path
        try TreeLine.check(count: looked, pathBytes: pathBytes, most: most)
    }

    /// Whether the trees have no difference.
    public var isEmpty: Bool { written.isEmpty && removed.isEmpty }

    /// Whether a submodule has a name that libgit2, given as a path, would read as a pattern, a comment or two names.
    ///
    /// libgit2 compares names of files literally, but not names of submodules, and it would skip these.
    var hasOddSubmodule: Bool {
        let (signs, patterns) = (Array("#!:".utf8), Array("\\*?[".utf8))
        return submodules.contains { path in
            guard let first = path.first, let last = path.last else { return false }
            if signs.contains(first) || last == 0x20 { return true }
            return path.contains { $0 < 0x20 || patterns.contains($0) }
        }
    }

    /// Whether Git's attributes for other files may have changed, too.
    var changesAttributes: Bool {
        let name = TreeLine.attributes
        return (written + (removed + replaced).filter { !$0.isFolder }.map(\.path)).contains {
            $0.count >= name.count && $0.suffix(name.count) == name[...]
                && ($0.count == name.count || $0.dropLast(name.count).last == 0x2F)
        }
    }
}

extension Repository {
    /// Compares two trees. Only folders that differ are read.
    ///
    /// - Parameter most: The most entries to examine. If there are more, `.tooLarge` is thrown.
    public func difference(
        fromTree old: OID, to new: OID, looking most: Int = 3_000_000
    ) throws(GitError) -> TreeDifference {
        var difference = TreeDifference(looking: most)
        if old != new { try compare(old, new, under: [], &difference) }
        return difference
    }

    private func compare(
        _ old: OID, _ new: OID, under prefix: [UInt8], _ difference: inout TreeDifference
    ) throws(GitError) {
        try TreeLine.check(depthOf: prefix.count)
        let older = try treeHandle(old)
        let newer = try treeHandle(new)
        let counts = (old: git_tree_entrycount(older.pointer), new: git_tree_entrycount(newer.pointer))
        var (left, right) = (0, 0)
        while left < counts.old || right < counts.new {
            let before = left < counts.old ? TreeLine(git_tree_entry_byindex(older.pointer, left)) : nil
            let after = right < counts.new ? TreeLine(git_tree_entry_byindex(newer.pointer, right)) : nil
            try difference.look(prefix.count)
            let order = TreeLine.order(before, after)
            if order <= 0 { left += 1 }
            if order >= 0 { right += 1 }
            if order == 0, let before, let after {
                guard before.id != after.id || before.mode != after.mode else { continue }
                note(before, prefix, &difference)
                if !after.isFolder {
                    try addAll(after, under: prefix, &difference)
                } else if try hasFile(after) {
                    try compare(before.id, after.id, under: prefix + after.name + [0x2F], &difference)
                } else {
                    difference.removed.append(.init(path: prefix + after.name, isFolder: true))
                }
            } else if order < 0, let before {
                let removal = TreeDifference.Removal(path: prefix + before.name, isFolder: before.isFolder)
                note(before, prefix, &difference)
                if let now = TreeLine(git_tree_entry_byname(newer.pointer, before.start)), try hasFile(now) {
                    difference.replaced.append(removal)
                } else {
                    difference.removed.append(removal)
                }
            } else if let after {
                try addAll(after, under: prefix, &difference)
            }
        }
    }

    private func note(_ entry: TreeLine, _ prefix: [UInt8], _ difference: inout TreeDifference) {
        if entry.mode == GIT_FILEMODE_COMMIT { difference.submodules.append(prefix + entry.name) }
    }

    /// Every file, link and submodule in which two trees differ; nil if libgit2 must find out by itself.
    ///
    /// That is the case if a path is a file in one tree and a folder in the other, because then a path can't name both.
    ///
    /// - Parameters:
    ///   - old: Nil: an empty tree.
    ///   - limit: The most entries to examine. If there are more, `.tooLarge` is thrown.
    func changedPaths(fromTree old: OID?, to new: OID, limit: Int) throws(GitError) -> [[UInt8]]? {
        guard let old else {
            var found = TreeDifference(looking: limit)
            try addContent(of: new, under: [], &found)
            return found.hasOddSubmodule ? nil : found.written
        }
        var found = try difference(fromTree: old, to: new, looking: limit)
        guard found.replaced.isEmpty else { return nil }
        let root = try treeHandle(old)
        for removal in found.removed {
            guard removal.isFolder else {
                found.written.append(removal.path)
                continue
            }
            let path = removal.path.map { CChar(bitPattern: $0) } + [0]
            let folder = try Handle("git_tree_entry_bypath", free: git_tree_entry_free) {
                git_tree_entry_bypath(&$0, root.pointer, path)
            }
            guard let entry = TreeLine(folder.pointer) else { continue }
            try addAll(entry, under: Array(removal.path.dropLast(entry.name.count)), &found)
        }
        return found.hasOddSubmodule ? nil : found.written
    }

    private func addAll(_ entry: TreeLine, under prefix: [UInt8], _ difference: inout TreeDifference) throws(GitError) {
        let path = prefix + entry.name
        try difference.look(path.count)
        note(entry, prefix, &difference)
        guard entry.isFolder else {
            if entry.mode == GIT_FILEMODE_COMMIT { difference.emptied.append(path) }
            return difference.written.append(path)
        }
        try TreeLine.check(depthOf: path.count)
        try addContent(of: entry.id, under: path + [0x2F], &difference)
    }

    private func addContent(
        of tree: OID, under prefix: [UInt8], _ difference: inout TreeDifference
    ) throws(GitError) {
        let tree = try treeHandle(tree)
        for number in 0..<git_tree_entrycount(tree.pointer) {
            guard let inner = TreeLine(git_tree_entry_byindex(tree.pointer, number)) else { continue }
            try addAll(inner, under: prefix, &difference)
        }
    }

    /// Whether a checkout writes anything for this folder. A tree may have folders without files, although Git makes
    /// none.
    private func hasFile(_ entry: TreeLine) throws(GitError) -> Bool {
        var seen: Set<OID> = []
        func look(_ entry: TreeLine, _ depth: Int = 0) throws(GitError) -> Bool {
            // The checkout refuses paths this deep.
            guard entry.isFolder, depth < 2_048 else { return true }
            guard seen.insert(entry.id).inserted else { return false }
            let tree = try treeHandle(entry.id)
            for number in 0..<git_tree_entrycount(tree.pointer) {
                if let inner = TreeLine(git_tree_entry_byindex(tree.pointer, number)), try look(inner, depth + 1) {
                    return true
                }
            }
            return false
        }
        return try look(entry)
    }
}
