internal import CGit

/// The question whether merging a change into a commit's first parent gives that commit's tree. If so, the commit
/// landed the change.
public struct LandingQuestion: Sendable, Hashable {
    /// The commits to merge.
    public var pair: MergePair
    /// The tree that the merge must have.
    public var tree: OID

    public init(pair: MergePair, tree: OID) {
        self.pair = pair
        self.tree = tree
    }
}

extension Repository {
    /// The answer by libgit2, for machines whose Git can't merge without a work tree.
    public func confirms(_ question: LandingQuestion) throws(GitError) -> Bool {
        let index = try mergedIndex(question.pair.head, into: question.pair.target)
        guard git_index_has_conflicts(index.pointer) == 0 else { return false }
        let tree = try treeHandle(question.tree)
        let diff = try Handle("git_diff_tree_to_index", free: git_diff_free) {
            git_diff_tree_to_index(&$0, pointer, tree.pointer, index.pointer, nil)
        }
        return git_diff_num_deltas(diff.pointer) == 0
    }
}
