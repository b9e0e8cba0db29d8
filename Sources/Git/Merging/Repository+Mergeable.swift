internal import CGit

extension Repository {
    /// Refuses a merge for which libgit2 would compare large files by lines: files that the change brings and that both
    /// sides have changed.
    ///
    /// - Throws: `.tooLarge`.
    func requireMergeable(_ head: OID, into target: OID) throws(GitError) {
        let limit = ObjectBounds.mergedFile
        let (theirs, ours) = (try treeID(of: head), try treeID(of: target))
        do {
            guard try measure(tree: theirs).largestFile > limit else { return }
        } catch let error as GitError {
            throw error
        } catch {
            throw (error as? TreeExcess)?.asGitError ?? GitError(call: "tree", code: .failed, message: "\(error)")
        }
        let base: OID? = if let common = try mergeBase(head, target) { try treeID(of: common) } else { nil }
        for path in try changedPaths(fromTree: base, to: theirs, limit: ObjectBounds.differingEntries) ?? [] {
            guard let mine = try blobID(at: path, in: theirs), try size(of: mine) > limit,
                let other = try blobID(at: path, in: ours), other != mine
            else { continue }
            if let base, try blobID(at: path, in: base) == other { continue }
            throw GitError(
                call: "git_merge_commits", code: .tooLarge,
                message: "\"\(String(decoding: path, as: UTF8.self))\" was changed on both sides but has more than "
                    + "\(limit) bytes, the limit for a merge by lines.")
        }
    }

    func blobID(at path: [UInt8], in tree: OID) throws(GitError) -> OID? {
        let root = try treeHandle(tree)
        let name = path.map { CChar(bitPattern: $0) } + [0]
        var found: OpaquePointer?
        guard try gitFinds("git_tree_entry_bypath", { git_tree_entry_bypath(&found, root.pointer, name) }), let found
        else { return nil }
        defer { git_tree_entry_free(found) }
        return git_tree_entry_type(found) == GIT_OBJECT_BLOB ? OID(git_tree_entry_id(found).pointee) : nil
    }
}
