import Git

/// Only a target's new commits, without the older history. That is enough if everything was landed by merges, which is
/// usual in projects that merge changes. Reading a history of many thousand commits would take longer than everything
/// else.
struct LandingStretch {
    private let history: TargetHistory
    private let named: [TargetHistory.Node: Int]
    /// Commits that may have landed something by content: they are no merges, or are on the main line.
    private var candidates: Set<TargetHistory.Node> = []

    /// Reads the commits of `new` that `old` does not have; nil if there are too many.
    init?(_ repository: Repository, from old: OID, to new: OID) throws(GitError) {
        let ids = try repository.walk(from: new, excluding: [old], limit: Self.most + 1, firstParent: false)
        guard ids.count <= Self.most else { return nil }
        var commits: [(id: OID, parents: [OID])] = []
        var names: [OID: Int] = [:]
        for id in ids {
            let commit = try repository.commit(id)
            commits.append((id, commit.parents))
            names[id] = NamedChange.number(in: commit.message)
        }
        history = TargetHistory(commits: commits, from: nil, to: new)
        var named: [TargetHistory.Node: Int] = [:]
        for (id, parents) in commits {
            guard let node = history.nodes[id] else { continue }
            named[node] = names[id]
            if parents.count < 2 || history.isOnMainline(node) { candidates.insert(node) }
        }
        self.named = named
    }

    private static let most = 1_000

    /// Which of `changes` were merged, if nothing can have landed in another way; otherwise nil.
    func draft(_ changes: [ChangeHead]) -> LandingDraft? {
        var draft = LandingDraft(changes)
        for change in changes {
            if let node = history.nodes[change.head] { draft.claims.append(history.claim(change, node, names: named)) }
        }
        let rest = candidates.subtracting(history.commitsOfMerged(draft.claims))
        return rest.isEmpty ? draft : nil
    }
}
