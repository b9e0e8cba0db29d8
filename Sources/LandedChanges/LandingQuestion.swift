package import Git

/// The question whether merging a change into a commit's first parent gives that commit's tree. If so, the commit
/// landed the change.
package struct LandingQuestion: Sendable, Hashable {
    /// The commits to merge.
    package var pair: MergePair
    /// The tree that the merge must have.
    package var tree: OID

    package init(pair: MergePair, tree: OID) {
        self.pair = pair
        self.tree = tree
    }
}

extension Repository {
    /// The answer by libgit2, for machines whose Git can't merge without a work tree.
    package func confirms(_ question: LandingQuestion) throws(GitError) -> Bool {
        try gives(question.tree, merging: question.pair)
    }
}
