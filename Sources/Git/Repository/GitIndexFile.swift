internal import CGit

/// The index file of a work tree, read without its repository.
public enum GitIndexFile {
    /// Whether the index at `file` has an entry for `path`. A missing file has none.
    ///
    /// - Throws: `GitError` if libgit2 can't read the index.
    public static func tracks(_ path: String, in file: String) throws(GitError) -> Bool {
        let index = try Handle("git_index_open", free: git_index_free) { git_index_open(&$0, file) }
        return git_index_find(nil, index.pointer, path) == 0
    }
}
