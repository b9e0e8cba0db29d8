extension TargetHistory {
    /// The claim of a change whose head is in the history.
    ///
    /// - Parameter names: The numbers of the changes that commit messages name.
    func claim(_ change: ChangeHead, _ node: Node, names: [Node: Int]) -> LandingClaim {
        let isOnLine = isOnMainline(node)
        let commit = isOnLine ? node : bringer(of: node)
        return LandingClaim(
            change: change, commit: entries[commit].id, names: names[commit], how: isOnLine ? .fastForward : .merge,
            headNames: names[node])
    }

    /// The commits that changes brought by merges, and the merge commits.
    func commitsOfMerged(_ claims: [LandingClaim]) -> Set<Node> {
        var found: Set<Node> = []
        for claim in claims where claim.how == .merge {
            guard let head = nodes[claim.change.head], let commit = nodes[claim.commit] else { continue }
            found.insert(commit)
            let arrival = entries[head].arrival
            var open = [head]
            while let node = open.popLast() {
                guard entries[node].arrival == arrival, found.insert(node).inserted else { continue }
                open += entries[node].parents
            }
        }
        return found
    }
}
