internal import CGit

/// The files of one commit, looked up by path, as the sides of a ``TreeDelta``.
package struct CommitFiles: ~Copyable {
    private let tree: Handle

    fileprivate init(_ tree: consuming Handle) { self.tree = tree }

    /// The file's side; ``TreeDelta/Side/absent`` if there is none.
    package func side(_ path: String) -> TreeDelta.Side {
        var out: OpaquePointer?
        guard git_tree_entry_bypath(&out, tree.pointer, path) == 0, let out else {
            git_error_clear()
            return .absent
        }
        defer { git_tree_entry_free(out) }
        return TreeDelta.Side(
            id: OID(git_tree_entry_id(out).pointee), mode: UInt16(git_tree_entry_filemode(out).rawValue))
    }
}

extension Repository {
    package func files(of commit: OID) throws(GitError) -> CommitFiles { CommitFiles(try commitTree(commit)) }
}
