import Git

extension LandingIndex {
    /// Which of `changes` landed in this stretch, as far as that is known without merging.
    func draft(_ changes: [ChangeHead]) throws(GitError) -> LandingDraft {
        var draft = LandingDraft(changes)
        known = draft.known
        var open: [ChangeHead] = []
        for change in changes {
            guard let node = history.nodes[change.head] else {
                open.append(change)
                continue
            }
            if !history.entries[node].isOld { draft.claims.append(history.claim(change, node, names: words.named)) }
        }
        // A copy of a merged commit elsewhere did not land the change.
        try setAside(history.commitsOfMerged(draft.claims))
        guard hasCandidates else { return draft }
        for change in open {
            guard mayHaveLanded(change) else {
                draft.options.append((change, []))
                continue
            }
            guard let shape = try whatIsThere({ () throws(GitError) in try shape(of: change) }) else { continue }
            draft.options.append((change, try whatIsThere { () throws(GitError) in try options(for: shape) } ?? []))
        }
        return draft
    }

    /// A head that was fetched long ago may have lost objects to a clean-up, and a pushed object may be too large or
    /// impossible to parse. Nothing is known of such a change, but the others still count.
    func whatIsThere<T>(_ read: () throws(GitError) -> T?) throws(GitError) -> T? {
        do {
            return try read()
        } catch {
            guard error.isAboutObjects else { throw error }
            return nil
        }
    }

    /// Reads the differences of a change from the target; nil for a change that can't have landed by content.
    private func shape(of change: ChangeHead) throws(GitError) -> ChangeShape? {
        var (own, edges, open): ([OID: OwnCommit], Set<Node>, [OID]) = ([:], [], [change.head])
        while let id = open.popLast() {
            if let node = history.nodes[id] {
                edges.insert(node)
                continue
            }
            // A branch with more own commits is another line of development, not a change for this target.
            guard own[id] == nil, own.count < 2_000 else { continue }
            guard let commit = try knownCommits.commit(id, in: repository) else { return nil }
            own[id] = commit
            open += commit.parents
        }
        guard !edges.isEmpty, own.count < 2_000 else { return nil }
        let bases = history.newest(of: edges)
        guard !bases.isEmpty, bases.count <= 4 else { return nil }
        var shape = ChangeShape(change: change, own: Self.inOrder(own, from: change.head), bases: bases)
        // Most changes have authors who landed nothing here, so their files need not be compared.
        guard mayHaveLanded(shape), try sharesFiles(shape) else { return shape }
        comparisons += 1
        for base in bases {
            shape.deltas.append(try repository.treeDelta(from: history.entries[base].id, to: change.head))
        }
        return shape
    }

    /// Parents before children, and the first parent's history before the second's.
    private static func inOrder(_ commits: [OID: OwnCommit], from head: OID) -> [OwnCommit] {
        var (ordered, seen): ([OwnCommit], Set<OID>) = ([], [])
        var open: [(id: OID, isDone: Bool)] = [(head, false)]
        while let (id, isDone) = open.popLast() {
            guard let commit = commits[id] else { continue }
            if isDone {
                ordered.append(commit)
            } else if seen.insert(id).inserted {
                open.append((id, true))
                open += commit.parents.reversed().map { ($0, false) }
            }
        }
        return ordered
    }
}
