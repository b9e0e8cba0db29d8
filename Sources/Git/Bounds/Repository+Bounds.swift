internal import CGit

/// The largest objects that are read into memory, in bytes. An object that a change brings may have gigabytes when it
/// is unpacked.
enum ObjectBounds {
    /// A commit with its message.
    static let commit = 16 << 20
    /// A tree: a list of some 500,000 names.
    static let tree = 64 << 20
    /// A file that is compared by lines. A file of empty lines needs about 80 times its size.
    static let comparedFile = 2 << 20
    /// A file that both sides of a merge have changed.
    static let mergedFile = 8 << 20
    /// All files that are compared by lines in one difference of two commits.
    static let compared = 256 << 20
    /// The files that are compared to find renames: each of them, and all together.
    static let renamedFile = 16 << 20
    static let renamed = 256 << 20
    /// The most pairs of a deleted and an added file that are compared to find renames.
    static let renamePairs = 1_000_000
    /// The most tree entries that are examined for one difference of two commits.
    static let differingEntries = 500_000
}

extension Repository {
    /// - Throws: `.tooLarge` if the object has more than `most` bytes. It is not unpacked then.
    func requireSize(of id: OID, atMost most: Int) throws(GitError) {
        let bytes = try size(of: id)
        guard bytes > most else { return }
        throw GitError(
            call: "git_odb_read_header", code: .tooLarge,
            message: "object \(id.short) has \(bytes) bytes; at most \(most) are read into memory.")
    }

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
