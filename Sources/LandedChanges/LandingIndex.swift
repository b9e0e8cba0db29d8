import Git

/// A stretch of a target's history, which is read once and compared with changes.
///
/// Differences are computed when they are first needed, and kept. Like its `Repository`, it belongs to one thread.
final class LandingIndex {
    typealias Node = TargetHistory.Node

    let repository: Repository
    let history: TargetHistory
    /// What the new commits say of themselves.
    private(set) var words = CommitWords()
    /// What the new commits that were not merged change.
    private(set) var effects: CommitEffects
    /// The numbers of the changes in question.
    var known: Set<Int> = []
    /// Commits that landed something by a merge, and so nothing by content.
    private var merged: Set<Node> = []
    /// The makers of all commits that may have landed a change that they don't name.
    private var unnamed = Makers()

    /// The commits that were read, now or in an earlier observation.
    var knownCommits: KnownCommits
    /// How many changes were compared with their bases, file by file.
    var comparisons = 0

    /// Reads the history of `new`, and the messages of the commits that `old` does not contain.
    ///
    /// - Parameter commits: Commits that need not be read.
    init(
        _ repository: Repository, from old: OID?, to new: OID, _ commits: KnownCommits = KnownCommits()
    ) throws(GitError) {
        self.repository = repository
        effects = CommitEffects(in: repository)
        var commits = commits
        try commits.read(historyOf: new, in: repository)
        knownCommits = commits
        // A tip that was replaced by a forced push is not in the new tip's history. What both share is old.
        let known: OID? =
            if let old { commits.places[old] == nil ? try repository.mergeBase(old, new) : old } else { nil }
        history = TargetHistory(commits, from: known, to: new)
        for (node, entry) in history.entries.enumerated() where !entry.isOld {
            // A merge on the main line may land a rebased branch; a merge inside a branch lands nothing.
            let mayLand = entry.parents.count < 2 || history.isOnMainline(node)
            words.add(try repository.commit(entry.id), at: node, mayLand: mayLand)
        }
    }

    func parent(of node: Node) -> OID? { history.entries[node].parents.first.map { history.entries[$0].id } }

    /// Whether a commit removes and adds the same lines as `change`, in the same files.
    func repeats(_ change: TreeDelta, at node: Node) throws(GitError) -> Bool {
        try effects.repeats(change, at: node)
    }

    /// Excludes commits that landed something by a merge, and computes the differences of the others.
    func setAside(_ nodes: Set<Node>) throws(GitError) {
        merged = nodes
        for (node, maker) in words.makers.sorted(by: { $0.key < $1.key }) where !nodes.contains(node) {
            guard try effects.add(node, from: parent(of: node), to: history.entries[node].id) else {
                words.forgetMaker(of: node)
                continue
            }
            if let name = words.named[node], known.contains(name) { continue }
            unnamed.add(maker)
        }
    }

    /// Whether any commit may have landed a change by content.
    var hasCandidates: Bool {
        !effects.deltas.isEmpty || words.named.keys.contains { !merged.contains($0) }
    }

    /// Whether any commit names the change, or names none.
    func mayHaveLanded(_ change: ChangeHead) -> Bool { words.names(change) || !unnamed.isEmpty }

    /// Whether any commit names the change, or shares its author or title and names no other change.
    func mayHaveLanded(_ shape: ChangeShape) -> Bool {
        words.names(shape.change) || unnamed.sharesAny(with: shape.makers)
    }

    /// The commits that change exactly these files, oldest first.
    func commits(changing delta: TreeDelta) -> [Node] { effects.commits(changing: delta).filter { !isMerged($0) } }

    /// The commits that change at least one of these files, oldest first.
    func commits(touching delta: TreeDelta) -> [Node] {
        effects.commits(touching: delta).subtracting(merged).sorted()
    }

    /// The commits whose message names this change, oldest first.
    func commits(naming number: Int) -> [Node] { words.commits(naming: number).filter { !isMerged($0) } }

    func isMerged(_ node: Node) -> Bool { merged.contains(node) }
}
