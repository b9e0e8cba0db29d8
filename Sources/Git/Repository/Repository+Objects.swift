internal import CGit
internal import Foundation

extension Repository {
    /// The commit that `revision` names, as in `git rev-parse <revision>^{commit}`.
    ///
    /// - Throws: `.notFound` if it names nothing, `.ambiguous` if it is the beginning of several ids, and `.invalid` if
    ///   it is not a revision or names something other than a commit.
    public func resolve(_ revision: String) throws(GitError) -> OID {
        do throws(GitError) {
            let object = try Handle("git_revparse_single", free: git_object_free) {
                git_revparse_single(&$0, pointer, revision)
            }
            let commit = try Handle("git_object_peel", free: git_object_free) {
                git_object_peel(&$0, object.pointer, GIT_OBJECT_COMMIT)
            }
            return OID(git_object_id(commit.pointer).pointee)
        } catch {
            throw Self.unresolved(revision, error)
        }
    }

    /// libgit2's reason as a sentence that says what to do.
    private static func unresolved(_ revision: String, _ error: GitError) -> GitError {
        let isShort = revision.count < 4
        switch error.code {
        case .ambiguous where !isShort:
            return GitError(
                call: error.call, code: .ambiguous,
                message: "\"\(revision)\" matches more than one commit. Give more digits.")
        case .notFound, .ambiguous:
            return GitError(
                call: error.call, code: .notFound,
                message: "there is no branch, tag or commit \"\(revision)\" in this repository. "
                    + "`git branch --all` and `git tag` list the names.")
        // -10: the object is not a commit (GIT_EPEEL).
        case .invalidName, .invalid, GitError.Code(rawValue: -10):
            return GitError(
                call: error.call, code: .invalid,
                message: "\"\(revision)\" does not name a commit. Give a branch, a tag of a commit, or a commit's id.")
        default: return error
        }
    }

    /// The commit with this id.
    ///
    /// - Throws: `.notFound` if there is none.
    public func commit(_ id: OID) throws(GitError) -> Commit {
        let handle = try commitHandle(id)
        return Commit(copying: handle.pointer)
    }

    /// Whether this repository, or one that it borrows from, has this object.
    public func contains(_ id: OID) -> Bool {
        var (raw, odb): (git_oid, OpaquePointer?) = (id.raw, nil)
        guard git_repository_odb(&odb, pointer) == 0 else {
            git_error_clear()
            return false
        }
        defer { git_odb_free(odb) }
        return git_odb_exists(odb, &raw) == 1
    }

    /// The path of an object's own file, whether it exists or not.
    public func looseFile(of id: OID) -> String {
        let hex = id.hex
        return "\(commonDirectory)/objects/\(hex.prefix(2))/\(hex.dropFirst(2))"
    }

    /// The id of the file or folder at `path` in a commit; nil if there is none. An empty path is the root.
    public func treeID(of commit: OID, path: String) throws(GitError) -> OID? {
        try entry(path, at: commit)?.id
    }

    /// The entries of a tree in Git's order. If `recursive`, each folder is followed by its contents.
    ///
    /// - Throws: `.tooLarge` if there are more than 3,000,000.
    public func entries(ofTree id: OID, recursive: Bool) throws(GitError) -> [TreeEntry] {
        var entries: [TreeEntry] = []
        var pathBytes = 0
        try collect(id, under: "", recursive: recursive, into: &entries, &pathBytes)
        return entries
    }

    private func collect(
        _ id: OID, under prefix: String, recursive: Bool, into entries: inout [TreeEntry], _ pathBytes: inout Int
    ) throws(GitError) {
        let tree = try treeHandle(id)
        for number in 0..<git_tree_entrycount(tree.pointer) {
            guard let raw = git_tree_entry_byindex(tree.pointer, number), let name = git_tree_entry_name(raw) else {
                continue
            }
            let text = String(cString: name)
            let entry = TreeEntry(
                name: text, path: prefix + text, kind: TreeEntry.Kind(git_tree_entry_filemode(raw)),
                id: OID(git_tree_entry_id(raw).pointee))
            pathBytes += entry.path.utf8.count
            try TreeLine.check(count: entries.count, pathBytes: pathBytes)
            entries.append(entry)
            if recursive, entry.kind == .tree {
                try TreeLine.check(depthOf: entry.path.utf8.count)
                try collect(entry.id, under: entry.path + "/", recursive: true, into: &entries, &pathBytes)
            }
        }
    }

    /// The whole content of a file, in memory.
    ///
    /// - Parameter most: The most bytes. `.max` is for files that pipectl wrote itself.
    /// - Throws: `.tooLarge` for a larger file.
    public func blob(_ id: OID, atMost most: Int = 64 << 20) throws(GitError) -> [UInt8] {
        if most < .max { try requireSize(of: id, atMost: most) }
        var raw = id.raw
        let blob = try Handle("git_blob_lookup", free: git_blob_free) { git_blob_lookup(&$0, pointer, &raw) }
        let bytes = UnsafeRawBufferPointer(
            start: git_blob_rawcontent(blob.pointer), count: Int(git_blob_rawsize(blob.pointer)))
        return [UInt8](bytes)
    }

    /// The size of an object in bytes, without reading it.
    public func size(of id: OID) throws(GitError) -> Int {
        let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        var (raw, count, kind) = (id.raw, 0, GIT_OBJECT_INVALID)
        try git("git_odb_read_header") { git_odb_read_header(&count, &kind, odb.pointer, &raw) }
        return count
    }

    /// The content of the file, or the target of the symbolic link, at `path` in a commit; nil if there is none.
    ///
    /// - Parameter most: As in ``blob(_:atMost:)``.
    public func file(_ path: String, at commit: OID, atMost most: Int = 64 << 20) throws(GitError) -> [UInt8]? {
        guard let entry = try entry(path, at: commit), entry.kind != .tree, entry.kind != .submodule else { return nil }
        return try blob(entry.id, atMost: most)
    }

    /// The same; nil also for a file of more than `most` bytes, which is not read.
    public func smallFile(_ path: String, at commit: OID, atMost most: Int) throws(GitError) -> [UInt8]? {
        do { return try file(path, at: commit, atMost: most) } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    /// The entry at `path` in a commit; nil if there is none.
    public func entry(_ path: String, at commit: OID) throws(GitError) -> TreeEntry? {
        let tree = try commitTree(commit)
        let trimmed = path.split(separator: "/").joined(separator: "/")
        guard !trimmed.isEmpty else {
            return TreeEntry(name: "", path: "", kind: .tree, id: OID(git_tree_id(tree.pointer).pointee))
        }
        var out: OpaquePointer?
        guard try gitFinds("git_tree_entry_bypath", { git_tree_entry_bypath(&out, tree.pointer, trimmed) }), let out
        else { return nil }
        defer { git_tree_entry_free(out) }
        return TreeEntry(
            name: String(cString: git_tree_entry_name(out)), path: trimmed,
            kind: TreeEntry.Kind(git_tree_entry_filemode(out)), id: OID(git_tree_entry_id(out).pointee))
    }

    func commitHandle(_ id: OID) throws(GitError) -> Handle {
        try requireSize(of: id, atMost: ObjectBounds.commit)
        var raw = id.raw
        return try Handle("git_commit_lookup", free: git_commit_free) { git_commit_lookup(&$0, pointer, &raw) }
    }

    func treeHandle(_ id: OID) throws(GitError) -> Handle {
        try requireSize(of: id, atMost: ObjectBounds.tree)
        var raw = id.raw
        return try Handle("git_tree_lookup", free: git_tree_free) { git_tree_lookup(&$0, pointer, &raw) }
    }

    package func treeID(of commit: OID) throws(GitError) -> OID {
        let commit = try commitHandle(commit)
        guard let id = git_commit_tree_id(commit.pointer) else {
            throw GitError(call: "git_commit_tree_id", code: .failed, message: nil)
        }
        return OID(id.pointee)
    }

    func commitTree(_ commit: OID) throws(GitError) -> Handle {
        try treeHandle(treeID(of: commit))
    }
}
