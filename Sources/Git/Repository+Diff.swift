internal import CGit

extension Repository {
    /// The files that differ between two commits, renames detected, in path order; `nil` stands for an empty tree.
    public func diff(from old: OID?, to new: OID) throws(GitError) -> [FileChange] {
        let diff = try diffHandle(from: old, to: new, contextLines: 0)
        var changes: [FileChange] = []
        for number in 0..<git_diff_num_deltas(diff.pointer) {
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

    /// How many entries of two trees differ; only folders that differ are read.
    public func differenceCount(from old: OID, to new: OID) throws(GitError) -> Int {
        var options = git_diff_options()
        try git("git_diff_options_init") { git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)) }
        let diff = try treeDiff(from: old, to: new, &options)
        return git_diff_num_deltas(diff.pointer)
    }

    /// The difference of two commits as `git diff` prints it, three lines of context, at most `maximumBytes` long.
    ///
    /// What is too long ends after a whole line, followed by one that says how many files were left out.
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

    /// The stable id of what a commit changes against its first parent, white space ignored, as `git patch-id` has it.
    ///
    /// `nil` for a merge and for a commit that changes nothing. Equal ids mean equal text changes at possibly
    /// different lines; file modes and binary contents are not part of it.
    public func patchID(of commit: OID) throws(GitError) -> OID? {
        let value = try self.commit(commit)
        guard value.parents.count < 2 else { return nil }
        return try patchID(of: diffHandle(from: value.parents.first, to: commit, contextLines: 3, renames: false))
    }

    /// The same for everything between two commits, taken as one difference.
    public func patchID(from old: OID, to new: OID) throws(GitError) -> OID? {
        try patchID(of: diffHandle(from: old, to: new, contextLines: 3, renames: false))
    }

    private func patchID(of diff: borrowing Handle) throws(GitError) -> OID? {
        let diff = diff.pointer
        guard git_diff_num_deltas(diff) > 0 else { return nil }
        var id = git_oid()
        try git("git_diff_patchid") { git_diff_patchid(&id, diff, nil) }
        return OID(id)
    }

    /// The `git_patch *` of one delta, which the caller frees; `nil` for an unchanged one.
    private func patchHandle(_ diff: borrowing Handle, _ number: Int) throws(GitError) -> OpaquePointer? {
        let diff = diff.pointer
        var patch: OpaquePointer?
        try git("git_patch_from_diff") { git_patch_from_diff(&patch, diff, number) }
        return patch
    }

    func diffHandle(
        from old: OID?, to new: OID, contextLines: UInt32, renames: Bool = true, maximumFileBytes: Int = 64 << 20
    ) throws(GitError) -> Handle {
        var options = git_diff_options()
        try git("git_diff_options_init") { git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)) }
        options.context_lines = contextLines
        // A larger file counts as binary: its difference would not fit in memory at need.
        options.max_size = git_off_t(maximumFileBytes)
        options.flags |= GIT_DIFF_INCLUDE_TYPECHANGE.rawValue
        var oldTree: OID?
        if let old { oldTree = try treeID(of: old) }
        let diff = try treeDiff(from: oldTree, to: treeID(of: new), &options)
        guard renames else { return diff }
        var find = git_diff_find_options()
        try git("git_diff_find_options_init") {
            git_diff_find_options_init(&find, UInt32(GIT_DIFF_FIND_OPTIONS_VERSION))
        }
        find.flags = GIT_DIFF_FIND_RENAMES.rawValue
        try git("git_diff_find_similar") { git_diff_find_similar(diff.pointer, &find) }
        return diff
    }

    /// The difference of two trees; `nil` stands for an empty one. Only folders that differ are read.
    ///
    /// libgit2 by itself reads all folders of both trees, of a hundred thousand files for some fifty milliseconds. Told
    /// which paths differ it passes the others by.
    private func treeDiff(
        from old: OID?, to new: OID, _ options: inout git_diff_options
    ) throws(GitError) -> Handle {
        var paths: [[UInt8]] = []
        // One that is too deep to be compared is libgit2's alone.
        if let old, let found = try? changedPaths(fromTree: old, to: new) {
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
