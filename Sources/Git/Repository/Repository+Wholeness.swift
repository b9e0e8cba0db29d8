internal import CGit

extension Repository {
    /// Whether the folders and files of a commit are all there and undamaged: libgit2 compares the bytes that it reads
    /// with their ids. It blocks for as long as reading all of them takes.
    ///
    /// Of a file of more than `most` bytes, and of a folder that is too large to be read, only the size is looked up.
    public func isWhole(_ commit: OID, reading most: Int = 64 << 20) -> Bool {
        do throws(GitError) {
            var seen: Set<OID> = []
            var folders = [try treeID(of: commit)]
            while let folder = folders.popLast() {
                guard seen.insert(folder).inserted, try size(of: folder) <= ObjectBounds.tree else { continue }
                let tree = try treeHandle(folder)
                for number in 0..<git_tree_entrycount(tree.pointer) {
                    guard let entry = TreeLine(git_tree_entry_byindex(tree.pointer, number)) else { continue }
                    if entry.isFolder {
                        folders.append(entry.id)
                    } else if entry.mode != GIT_FILEMODE_COMMIT, seen.insert(entry.id).inserted {
                        try read(entry.id, atMost: most)
                    }
                }
            }
            return true
        } catch {
            return false
        }
    }

    private func read(_ id: OID, atMost most: Int) throws(GitError) {
        guard try size(of: id) <= most else { return }
        let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        var raw = id.raw
        _ = try Handle("git_odb_read", free: git_odb_object_free) { git_odb_read(&$0, odb.pointer, &raw) }
    }
}
