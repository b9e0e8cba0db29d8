extension LandingIndex {
    /// Which of `changes` landed in this stretch, in the order they were given.
    public func recognise(_ changes: [ChangeHead]) throws(GitError) -> [Landing] {
        known = Set(changes.compactMap { NamedChange.number(of: $0.name) })
        var claims: [Claim] = []
        var shapes: [ChangeShape] = []
        for change in changes {
            if let node = history.nodes[change.head] {
                if !history.entries[node].isOld { claims.append(byAncestry(change, node)) }
            } else if let shape = try whatIsThere({ () throws(GitError) in try shape(of: change) }) {
                shapes.append(shape)
            }
        }
        let merged = commitsOfMergedChanges(claims)
        for shape in shapes {
            let claim = try whatIsThere { () throws(GitError) in
                try byContent(shape, except: merged)
            }
            if let claim { claims.append(claim) }
        }
        claims = settle(claims)
        claims += stacked(shapes, on: claims)
        let order = Dictionary(changes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        return claims.map(landing).sorted { order[$0.change, default: 0] < order[$1.change, default: 0] }
    }

    /// A change and the commit that is believed to have landed it.
    struct Claim {
        var change: ChangeHead
        var node: Node
        var how: Landing.How
        /// The own commits of a change that landed by content.
        var own: [Commit] = []
        /// How late the change forked off: the nearer of two equal ones is the one that landed.
        var base = 0
    }

    /// A head fetched long ago may have lost objects to a clean-up, and anybody may push one that can't be parsed or that
    /// is too large to be read: nothing can be said of it then, and the others still count.
    private func whatIsThere<T>(_ read: () throws(GitError) -> T?) throws(GitError) -> T? {
        do {
            return try read()
        } catch {
            guard error.isAboutObjects else { throw error }
            return nil
        }
    }

    private func landing(_ claim: Claim) -> Landing {
        Landing(
            change: claim.change.name, head: claim.change.head, commit: history.entries[claim.node].id, how: claim.how)
    }

    private func byAncestry(_ change: ChangeHead, _ node: Node) -> Claim {
        let isOnLine = history.isOnMainline(node)
        return Claim(
            change: change, node: isOnLine ? node : history.bringer(of: node), how: isOnLine ? .fastForward : .merge)
    }

    /// Reads what the target lacks of a change; `nil` for one that cannot have landed by content.
    private func shape(of change: ChangeHead) throws(GitError) -> ChangeShape? {
        var (own, edges, open): ([OID: Commit], Set<Node>, [OID]) = ([:], [], [change.head])
        while let id = open.popLast() {
            if let node = history.nodes[id] {
                edges.insert(node)
                continue
            }
            // A branch with more of its own is another line of development, not a change to this one.
            guard own[id] == nil, own.count < 2_000 else { continue }
            guard repository.contains(id) else { return nil }
            let commit = try repository.commit(id)
            own[id] = commit
            open += commit.parents
        }
        let bases = history.newest(of: edges)
        guard !bases.isEmpty, bases.count <= 4, own.count < 2_000 else { return nil }
        var deltas: [TreeDelta] = []
        for base in bases {
            deltas.append(try repository.treeDelta(from: history.entries[base].id, to: change.head))
        }
        return ChangeShape(change: change, own: Self.inOrder(own, from: change.head), bases: bases, deltas: deltas)
    }

    /// Parents before children, the first parent's history before the second's.
    private static func inOrder(_ commits: [OID: Commit], from head: OID) -> [Commit] {
        var (ordered, seen): ([Commit], Set<OID>) = ([], [])
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

    /// The commits that other changes brought by being merged: a copy of one elsewhere did not land by it.
    private func commitsOfMergedChanges(_ claims: [Claim]) -> Set<Node> {
        var found: Set<Node> = []
        for claim in claims where claim.how == .merge {
            guard let head = history.nodes[claim.change.head] else { continue }
            found.insert(claim.node)
            let arrival = history.entries[head].arrival
            var open = [head]
            while let node = open.popLast() {
                guard history.entries[node].arrival == arrival, found.insert(node).inserted else { continue }
                open += history.entries[node].parents
            }
        }
        return found
    }

    /// Drops claims that another one explains better.
    private func settle(_ claims: [Claim]) -> [Claim] {
        let rivals = Dictionary(grouping: claims, by: \.node)
        return claims.filter { claim in
            let number = NamedChange.number(of: claim.change.name)
            let others = (rivals[claim.node] ?? []).filter { $0.change.head != claim.change.head }
            switch claim.how {
            case .merge: return true
            case .fastForward:
                // A head put back onto the target's own commit, which landed something else, brought nothing.
                let namesAnother = named[claim.node].map { $0 != number } ?? false
                return others.isEmpty && !namesAnother
            case .squash, .rebase:
                let equals = others.filter { $0.how == .squash || $0.how == .rebase }
                guard !equals.isEmpty else { return true }
                if let name = named[claim.node] {
                    if name == number { return true }
                    if equals.contains(where: { NamedChange.number(of: $0.change.name) == name }) { return false }
                }
                return !equals.contains { $0.base > claim.base }
            }
        }
    }

    /// Changes whose head is inside another that landed by content: what the other brought includes them.
    private func stacked(_ shapes: [ChangeShape], on claims: [Claim]) -> [Claim] {
        let landed = Set(claims.map(\.change))
        var found: [Claim] = []
        var hosts: [OID: Claim] = [:]
        for claim in claims {
            for commit in claim.own where hosts[commit.id] == nil { hosts[commit.id] = claim }
        }
        for shape in shapes where !landed.contains(shape.change) {
            guard var claim = hosts[shape.change.head] else { continue }
            claim.change = shape.change
            found.append(claim)
        }
        return found
    }
}
