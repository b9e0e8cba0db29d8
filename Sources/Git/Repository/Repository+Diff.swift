internal import CGit

extension Repository {
    /// The files that differ between two commits, with renames detected, ordered by path; nil stands for an empty tree.
    ///
    /// Files of more than 2 MiB count as binary. Once 256 MiB of files were compared, later ones have no line counts.
    ///
    /// - Throws: `.tooLarge` if more than 500,000 tree entries differ.
    public func diff(from old: OID?, to new: OID) throws(GitError) -> [FileChange] {
        let diff = try diffHandle(from: old, to: new, contextLines: 0)
        var changes: [FileChange] = []
        var compared = 0
        for number in 0..<git_diff_num_deltas(diff.pointer) {
            if compared < ObjectBounds.compared { compared += comparedBytes(diff.pointer, number) }
            guard compared < ObjectBounds.compared else {
                let raw = git_diff_get_delta(diff.pointer, number)?.pointee
                if let raw { changes.append(FileChange(raw, additions: 0, deletions: 0)) }
                continue
            }
            let patch = try patchHandle(diff, number)
            guard let patch else { continue }
            defer { git_patch_free(patch) }
            guard let delta = git_patch_get_delta(patch) else { continue }
            var (context, additions, deletions) = (0, 0, 0)
            try git("git_patch_line_stats") { git_patch_line_stats(&context, &additions, &deletions, patch) }
            changes.append(FileChange(delta.pointee, additions: additions, deletions: deletions))
        }
        return changes
    }

    /// The bytes of both sides of a delta that are read to compare them.
    private func comparedBytes(_ diff: OpaquePointer, _ number: Int) -> Int {
        guard let delta = git_diff_get_delta(diff, number)?.pointee else { return 0 }
        let none = OID(git_oid())
        let sizes = [delta.old_file, delta.new_file].map { file in
            let id = OID(file.id)
            return id == none ? 0 : (try? size(of: id)) ?? 0
        }
        // A file that counts as binary is not read.
        return sizes.contains { $0 > ObjectBounds.comparedFile } ? 0 : sizes.reduce(0, +)
    }

    /// The number of entries in which two trees differ. Only folders that differ are read.
    public func differenceCount(from old: OID, to new: OID) throws(GitError) -> Int {
        var options = git_diff_options()
        try git("git_diff_options_init") { git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)) }
        let diff = try treeDiff(from: old, to: new, &options)
        return git_diff_num_deltas(diff.pointer)
    }

    /// The difference of two commits as `git diff` prints it, with three lines of context.
    ///
    /// A text longer than `maximumBytes` is cut after a whole line, and a last line says how many files were left out.
    public func patch(from old: OID?, to new: OID, maximumBytes: Int) throws(GitError) -> String {
        let diff = try diffHandle(from: old, to: new, contextLines: 3, maximumFileBytes: max(1 << 20, maximumBytes))
        var text: [UInt8] = []
        let count = git_diff_num_deltas(diff.pointer)
        for number in 0..<count {
            guard let patch = try patchHandle(diff, number) else { continue }
            defer { git_patch_free(patch) }
            var buffer = git_buf()
            defer { git_buf_dispose(&buffer) }
            try git("git_patch_to_buf") { git_patch_to_buf(&buffer, patch) }
            text += UnsafeRawBufferPointer(start: buffer.ptr, count: buffer.size)
            guard text.count > maximumBytes else { continue }
            let end = text.prefix(maximumBytes).lastIndex(of: 0x0A).map { $0 + 1 } ?? maximumBytes
            let cut = String(decoding: text.prefix(end), as: UTF8.self)
            return cut + "… cut at \(maximumBytes) bytes; \(count - number - 1) more of \(count) files changed.\n"
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A stable id of the difference between a commit and its first parent, ignoring white space, as in `git patch-id`;
    /// nil for a merge and for a commit without changes.
    ///
    /// Equal ids mean equal text changes, possibly at different lines. File modes and binary contents are not part of
    /// it.
    public func patchID(of commit: OID) throws(GitError) -> OID? {
        let value = try self.commit(commit)
        guard value.parents.count < 2 else { return nil }
        return try patchID(
            of: diffHandle(
                from: value.parents.first, to: commit, contextLines: 3, renames: false, maximumFileBytes: 8 << 20))
    }

    /// The same for the difference between two commits.
    public func patchID(from old: OID, to new: OID) throws(GitError) -> OID? {
        try patchID(
            of: diffHandle(from: old, to: new, contextLines: 3, renames: false, maximumFileBytes: 8 << 20))
    }

    private func patchID(of diff: borrowing Handle) throws(GitError) -> OID? {
        let diff = diff.pointer
        guard git_diff_num_deltas(diff) > 0 else { return nil }
        var id = git_oid()
        try git("git_diff_patchid") { git_diff_patchid(&id, diff, nil) }
        return OID(id)
    }

    /// The `git_patch *` of one delta, which the caller must free; nil for an unchanged file.
    private func patchHandle(_ diff: borrowing Handle, _ number: Int) throws(GitError) -> OpaquePointer? {
        let diff = diff.pointer
        var patch: OpaquePointer?
        try git("git_patch_from_diff") { git_patch_from_diff(&patch, diff, number) }
        return patch
    }

    func diffHandle(
        from old: OID?, to new: OID, contextLines: UInt32, renames: Bool = true,
        maximumFileBytes: Int = ObjectBounds.comparedFile
    ) throws(GitError) -> Handle {
        var options = git_diff_options()
        try git("git_diff_options_init") { git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)) }
        options.context_lines = contextLines
        // A larger file counts as binary and is not read.
        options.max_size = git_off_t(maximumFileBytes)
        options.flags |= GIT_DIFF_INCLUDE_TYPECHANGE.rawValue
        var oldTree: OID?
        if let old { oldTree = try treeID(of: old) }
        let diff = try treeDiff(from: oldTree, to: treeID(of: new), &options)
        guard renames, mayFindRenames(diff.pointer) else { return diff }
        var find = git_diff_find_options()
        try git("git_diff_find_options_init") {
            git_diff_find_options_init(&find, UInt32(GIT_DIFF_FIND_OPTIONS_VERSION))
        }
        find.flags = GIT_DIFF_FIND_RENAMES.rawValue
        try git("git_diff_find_similar") { git_diff_find_similar(diff.pointer, &find) }
        return diff
    }

    /// Whether renames are searched for. libgit2 compares each deleted file with each added one, and reads all of them,
    /// so this is done only if there are few.
    private func mayFindRenames(_ diff: OpaquePointer) -> Bool {
        var (gone, new, bytes) = (0, 0, 0)
        for number in 0..<git_diff_num_deltas(diff) {
            guard let delta = git_diff_get_delta(diff, number)?.pointee,
                delta.status == GIT_DELTA_ADDED || delta.status == GIT_DELTA_DELETED
            else { continue }
            let isNew = delta.status == GIT_DELTA_ADDED
            if isNew { new += 1 } else { gone += 1 }
            let size = (try? size(of: OID(isNew ? delta.new_file.id : delta.old_file.id))) ?? 0
            bytes += size
            if size > ObjectBounds.renamedFile || bytes > ObjectBounds.renamed { return false }
        }
        return gone > 0 && new > 0 && gone * new <= ObjectBounds.renamePairs
    }

    /// The difference of two trees; nil stands for an empty one. Only folders that differ are read.
    ///
    /// By itself, libgit2 reads all folders of both trees. Given the paths that differ, it skips the others.
    private func treeDiff(
        from old: OID?, to new: OID, _ options: inout git_diff_options
    ) throws(GitError) -> Handle {
        var paths: [[UInt8]] = []
        // libgit2 has no limits of its own, so trees that are too deep or too large must be refused before.
        let found = try changedPaths(fromTree: old, to: new, limit: ObjectBounds.differingEntries)
        if old != nil, let found {
            paths = found
            guard !paths.isEmpty else {
                return try Handle("git_diff_tree_to_tree", free: git_diff_free) {
                    git_diff_tree_to_tree(&$0, pointer, nil, nil, &options)
                }
            }
            options.flags |= GIT_DIFF_DISABLE_PATHSPEC_MATCH.rawValue
        }
        let newTree = try treeHandle(new)
        let oldTree: OpaquePointer? = if let old { try treeHandle(old).take() } else { nil }
        defer { git_tree_free(oldTree) }
        return try Handle("git_diff_tree_to_tree", free: git_diff_free) { diff in
            withPaths(paths) { paths in
                options.pathspec = paths
                defer { options.pathspec = git_strarray() }
                return git_diff_tree_to_tree(&diff, pointer, oldTree, newTree.pointer, &options)
            }
        }
    }
}
