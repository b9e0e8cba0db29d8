internal import CGit
internal import Foundation

extension Repository {
    /// Checks `commit` out into `directory`, which must not exist or be empty, as a repository of its own.
    ///
    /// The new repository has its own object folder and borrows this one's by absolute path (so this one must outlive
    /// it), no refs, and a detached `HEAD` at `commit`. Attributes are honoured, hooks and external filters never run,
    /// symbolic links are created as they are, submodules stay empty folders. Never open `directory` with this room
    /// again once a step could write to it: libgit2 follows what it finds there out of the folder. Throws `.exists`
    /// when the folder is in use.
    public func checkout(_ commit: OID, into directory: String) throws(GitError) {
        try Self.requireFree(directory)
        guard contains(commit) else {
            throw GitError(
                call: "git_checkout_tree", code: .notFound,
                message: "\"\(gitDirectory)\" has no commit \(commit.short). Fetch it, then try again.")
        }
        let workspace = try Self.makeWorkspace(at: directory, borrowing: objectStores(), head: commit)
        try workspace.writeFiles(of: commit)
    }

    /// Writes `commit`'s files, or those at `paths`, into this repository's folder, whatever is there.
    ///
    /// Each comes out as Git's attributes in the commit say. libgit2 looks for those in the folder, where they are not
    /// yet for what sorts before them, and then in the index: so they are noted there.
    ///
    /// - Parameter isIndexWritten: Whether to the disk, which libgit2 forces, or in memory only.
    /// - Returns: The index, of what was written.
    @discardableResult
    func writeFiles(
        of commit: OID, only paths: [[UInt8]] = [], isIndexWritten: Bool = true
    ) throws(GitError) -> Handle {
        let tree = try commitTree(commit)
        let index = try Handle("git_repository_index", free: git_index_free) { git_repository_index(&$0, pointer) }
        let attributes = try attributeFiles(in: tree, only: paths.isEmpty ? nil : Self.ways(to: paths))
        for file in attributes {
            try git("git_index_add") {
                withPath(file.path) { path in
                    var entry = git_index_entry()
                    (entry.mode, entry.id, entry.path) = (file.mode.rawValue, file.id.raw, path)
                    return git_index_add(index.pointer, &entry)
                }
            }
        }
        var options = git_checkout_options()
        try git("git_checkout_options_init") {
            git_checkout_options_init(&options, UInt32(GIT_CHECKOUT_OPTIONS_VERSION))
        }
        // SAFE takes HEAD's tree for what is there, and would write nothing into an empty folder. A refresh would read
        // the index from the disk.
        options.checkout_strategy =
            GIT_CHECKOUT_FORCE.rawValue | GIT_CHECKOUT_NO_REFRESH.rawValue
            | GIT_CHECKOUT_DISABLE_PATHSPEC_MATCH.rawValue
            | (isIndexWritten ? 0 : GIT_CHECKOUT_DONT_WRITE_INDEX.rawValue)
        let root = tree.pointer
        try git("git_checkout_tree") {
            withPaths(paths) { paths in
                options.paths = paths
                return git_checkout_tree(pointer, root, &options)
            }
        }
        if !paths.isEmpty {
            // Where a broken tree has two entries of a name, the other one may have taken its place meanwhile.
            for file in attributes { _ = withPath(file.path) { git_index_remove(index.pointer, $0, 0) } }
        }
        return index
    }

    /// The files that say how others in the tree are converted.
    ///
    /// - Parameter ways: The folders to look into, by the folder that they are in; nil for all.
    private func attributeFiles(
        in tree: borrowing Handle, at folder: [UInt8] = [], only ways: [[UInt8]: [[UInt8]]]? = nil
    ) throws(GitError) -> [AttributeFile] {
        var looked = 0
        return try attributeFiles(in: tree, at: folder, only: ways, &looked)
    }

    private func attributeFiles(
        in tree: borrowing Handle, at folder: [UInt8], only ways: [[UInt8]: [[UInt8]]]?, _ looked: inout Int
    ) throws(GitError) -> [AttributeFile] {
        // No file system takes what is there, and the stack has an end.
        guard folder.count <= 4_096 else { return [] }
        func path(_ name: [UInt8]) -> [UInt8] { folder.isEmpty ? name : folder + [0x2F] + name }
        var found: [AttributeFile] = []
        func look(_ entry: TreeLine, _ looked: inout Int) throws(GitError) {
            looked += 1
            try TreeLine.check(count: looked)
            if entry.isFolder {
                found += try attributeFiles(in: treeHandle(entry.id), at: path(entry.name), only: ways, &looked)
            } else if entry.isAttributes {
                found.append(AttributeFile(path: path(entry.name), mode: entry.mode, id: entry.id))
            }
        }
        guard let ways else {
            for number in 0..<git_tree_entrycount(tree.pointer) {
                if let entry = TreeLine(git_tree_entry_byindex(tree.pointer, number)) { try look(entry, &looked) }
            }
            return found
        }
        if let entry = TreeLine(git_tree_entry_byname(tree.pointer, ".gitattributes")), !entry.isFolder {
            try look(entry, &looked)
        }
        for way in ways[folder] ?? [] {
            let name = way[(folder.isEmpty ? 0 : folder.count + 1)...].map { CChar(bitPattern: $0) } + [0]
            if let entry = TreeLine(git_tree_entry_byname(tree.pointer, name)), entry.isFolder {
                try look(entry, &looked)
            }
        }
        return found
    }

    /// The folders that these paths lead through, by the folder that each is in.
    private static func ways(to paths: [[UInt8]]) -> [[UInt8]: [[UInt8]]] {
        func above(_ path: [UInt8]) -> [UInt8] { Array(path[..<(path.lastIndex(of: 0x2F) ?? 0)]) }
        var folders: Set<[UInt8]> = []
        for path in paths {
            var folder = above(path)
            while !folder.isEmpty, folders.insert(folder).inserted { folder = above(folder) }
        }
        return Dictionary(grouping: folders, by: above)
    }
}

private struct AttributeFile {
    var path: [UInt8]
    var mode: git_filemode_t
    var id: OID
}
