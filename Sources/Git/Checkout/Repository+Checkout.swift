internal import CGit
internal import Foundation

extension Repository {
    /// Checks `commit` out into `directory`, which must not exist or be empty, as a repository of its own.
    ///
    /// The new repository has its own object folder and borrows objects from this one by absolute path, so this one
    /// must exist as long as it does. It has no refs, and a detached `HEAD` at `commit`. Attributes are honoured, hooks
    /// and external filters never run, symbolic links are created as links, and submodules remain empty folders.
    ///
    /// Never open `directory` with this module again once a step could write to it, because libgit2 would follow links
    /// there out of the folder.
    ///
    /// - Throws: `.exists` if the folder is not empty.
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

    /// Writes `commit`'s files, or those at `paths`, into this repository's folder, and replaces what is there.
    ///
    /// Each file is converted according to Git's attributes in the commit. libgit2 searches for these first in the
    /// folder, where they are not written yet for files that sort before them, and then in the index. So they are added
    /// to the index first.
    ///
    /// - Parameter isIndexWritten: Whether the index is written to the disk, which libgit2 flushes, or only kept in
    ///   memory.
    /// - Returns: The index of the files that were written.
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
        // SAFE would assume HEAD's tree to be there, and write nothing into an empty folder. A refresh would read the
        // index from the disk.
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
            // If a broken tree has two entries with the same name, the other one may have replaced it meanwhile.
            for file in attributes { _ = withPath(file.path) { git_index_remove(index.pointer, $0, 0) } }
        }
        return index
    }

    /// The attribute files, which decide how other files in the tree are converted.
    ///
    /// - Parameter ways: The folders to search, by their parent folder; nil: all.
    private func attributeFiles(
        in tree: borrowing Handle, at folder: [UInt8] = [], only ways: [[UInt8]: [[UInt8]]]? = nil
    ) throws(GitError) -> [AttributeFile] {
        var looked = 0
        return try attributeFiles(in: tree, at: folder, only: ways, &looked)
    }

    private func attributeFiles(
        in tree: borrowing Handle, at folder: [UInt8], only ways: [[UInt8]: [[UInt8]]]?, _ looked: inout Int
    ) throws(GitError) -> [AttributeFile] {
        // No file system allows paths this deep, and the stack is limited.
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

    /// The folders on the way to these paths, by their parent folder.
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
