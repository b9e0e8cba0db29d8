internal import CGit

/// The file in which a working tree notes what Git tracks, read without its repository.
public enum GitIndexFile {
    /// Whether the index at `file` has an entry for `path`; a file that is missing has none.
    ///
    /// - Throws: `GitError` where the index is in a form that libgit2 can't read.
    public static func tracks(_ path: String, in file: String) throws(GitError) -> Bool {
        let index = try Handle("git_index_open", free: git_index_free) { git_index_open(&$0, file) }
        return git_index_find(nil, index.pointer, path) == 0
    }
}
