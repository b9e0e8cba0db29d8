internal import CGit

extension Repository {
    /// Merges a change's head into its target in memory, and writes the merged tree to this repository's own objects.
    ///
    /// It uses libgit2's merge, which compares lines and finds renames in other ways than Git and so has another result
    /// for about one merge in a thousand. It is for machines whose Git can't merge without a work tree.
    ///
    /// No ref, index or work tree is touched. If the histories have no common ancestor, an empty one is assumed.
    public func merge(_ head: OID, into target: OID) throws(GitError) -> MergeOutcome {
        let index = try mergedIndex(head, into: target)
        if git_index_has_conflicts(index.pointer) == 1 { return .conflicts(try conflicts(in: index)) }
        var tree = git_oid()
        try git("git_index_write_tree_to") { git_index_write_tree_to(&tree, index.pointer, pointer) }
        return .merged(tree: OID(tree))
    }

    /// Applies the difference between the trees `ancestor` and `theirs` to the tree `ours`, in memory, as
    /// ``merge(_:into:)`` does.
    ///
    /// All three are ids of trees.
    public func merge(tree theirs: OID, into ours: OID, ancestor: OID) throws(GitError) -> MergeOutcome {
        let trees = (try treeHandle(ancestor).take(), try treeHandle(ours).take(), try treeHandle(theirs).take())
        defer {
            git_tree_free(trees.0)
            git_tree_free(trees.1)
            git_tree_free(trees.2)
        }
        var options = git_merge_options()
        try git("git_merge_options_init") { git_merge_options_init(&options, UInt32(GIT_MERGE_OPTIONS_VERSION)) }
        let index = try Handle("git_merge_trees", free: git_index_free) {
            git_merge_trees(&$0, pointer, trees.0, trees.1, trees.2, &options)
        }
        if git_index_has_conflicts(index.pointer) == 1 { return .conflicts(try conflicts(in: index)) }
        var tree = git_oid()
        try git("git_index_write_tree_to") { git_index_write_tree_to(&tree, index.pointer, pointer) }
        return .merged(tree: OID(tree))
    }

    /// Whether merging a pair gives exactly this tree.
    package func gives(_ tree: OID, merging pair: MergePair) throws(GitError) -> Bool {
        let index = try mergedIndex(pair.head, into: pair.target)
        guard git_index_has_conflicts(index.pointer) == 0 else { return false }
        let tree = try treeHandle(tree)
        let diff = try Handle("git_diff_tree_to_index", free: git_diff_free) {
            git_diff_tree_to_index(&$0, pointer, tree.pointer, index.pointer, nil)
        }
        return git_diff_num_deltas(diff.pointer) == 0
    }

    func mergedIndex(_ head: OID, into target: OID) throws(GitError) -> Handle {
        try requireMergeable(head, into: target)
        let (ours, theirs) = (try commitHandle(target).take(), try commitHandle(head).take())
        defer {
            git_commit_free(ours)
            git_commit_free(theirs)
        }
        var options = git_merge_options()
        try git("git_merge_options_init") { git_merge_options_init(&options, UInt32(GIT_MERGE_OPTIONS_VERSION)) }
        return try Handle("git_merge_commits", free: git_index_free) {
            git_merge_commits(&$0, pointer, ours, theirs, &options)
        }
    }

    private func conflicts(in index: borrowing Handle) throws(GitError) -> [MergeConflict] {
        let index = index.pointer
        let iterator = try Handle("git_index_conflict_iterator_new", free: git_index_conflict_iterator_free) {
            git_index_conflict_iterator_new(&$0, index)
        }
        var kinds: [String: String] = [:]
        while true {
            var (base, ours, theirs): Entries = (nil, nil, nil)
            let code = git_index_conflict_next(&base, &ours, &theirs, iterator.pointer)
            if code == GIT_ITEROVER.rawValue { break }
            try git("git_index_conflict_next") { code }
            guard let path = (ours ?? theirs ?? base)?.pointee.path else { continue }
            kinds[String(cString: path)] =
                ConflictStages(
                    base: base?.pointee.mode, target: ours?.pointee.mode, change: theirs?.pointee.mode
                ).kind
        }
        return kinds.map { MergeConflict(path: $0.key, kind: $0.value) }.sorted { $0.path < $1.path }
    }

    private typealias Entry = UnsafePointer<git_index_entry>?
    private typealias Entries = (base: Entry, target: Entry, change: Entry)
}
