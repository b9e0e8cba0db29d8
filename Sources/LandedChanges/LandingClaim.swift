import Git

/// A change and the commit that probably landed it.
struct LandingClaim: Sendable {
    var change: ChangeHead
    /// The commit on the target.
    var commit: OID
    /// The number of the change that the commit's message names.
    var names: Int?
    var how: LandedChange.How
    /// For a merge: the number of the change that the head's own message names.
    var headNames: Int?
    /// The own commits of a change that was recognised by content.
    var own: [OID] = []
    /// How late the change forked off. Of two equal changes, the nearer one landed.
    var base = 0

    var number: Int? { NamedChange.number(of: change.name) }
    /// Whether the commit's message names this change.
    var isNamed: Bool { names != nil && names == number }
    var isByContent: Bool { how == .squash || how == .rebase }
    var landing: LandedChange { LandedChange(change: change.name, head: change.head, commit: commit, how: how) }
}

/// Claims for a set of changes, some of which may contradict each other.
struct LandingClaims {
    var claims: [LandingClaim]
    /// The numbers of the changes in question.
    let known: Set<Int>

    /// Drops claims that another claim explains better.
    mutating func settle() {
        let rivals = Dictionary(grouping: claims, by: \.commit)
        claims = claims.filter { claim in holds(claim, among: rivals[claim.commit] ?? []) }
        dropTwins()
    }

    private func holds(_ claim: LandingClaim, among rivals: [LandingClaim]) -> Bool {
        let others = rivals.filter { $0.change.head != claim.change.head }
        switch claim.how {
        case .inside: return true
        case .merge:
            // The head was moved to the commit that landed another change, which then came with a branch. It brought
            // nothing.
            guard let name = claim.headNames, name != claim.number, known.contains(name) else { return true }
            return claim.isNamed
        case .fastForward:
            // The head was moved back to a commit of the target that landed something else. It brought nothing.
            return others.isEmpty && (claim.names == nil || claim.isNamed)
        case .squash, .rebase:
            let equals = others.filter(\.isByContent)
            guard !equals.isEmpty, !claim.isNamed else { return true }
            if equals.contains(where: \.isNamed) { return false }
            return !equals.contains { $0.base > claim.base }
        }
    }

    /// Of changes with the same head, drops those that the commit's message does not name, if it names another of them.
    private mutating func dropTwins() {
        let named = Set(claims.filter(\.isNamed).map { Landed($0) })
        claims = claims.filter { $0.isNamed || !named.contains(Landed($0)) }
    }

    private struct Landed: Hashable {
        var head: OID
        var commit: OID
        init(_ claim: LandingClaim) { (head, commit) = (claim.change.head, claim.commit) }
    }

    /// Adds changes whose head is part of another change that was recognised by content, because the other one includes
    /// them.
    mutating func add(inside changes: [ChangeHead]) {
        let landed = Set(claims.map(\.change))
        let heads = Set(claims.map(\.change.head))
        var hosts: [OID: LandingClaim] = [:]
        for claim in claims {
            for commit in claim.own where hosts[commit] == nil { hosts[commit] = claim }
        }
        for change in changes where !landed.contains(change) {
            // A change with the same head as one that landed: it landed with it, or was dropped.
            guard !heads.contains(change.head), var claim = hosts[change.head] else { continue }
            (claim.change, claim.how) = (change, .inside)
            claims.append(claim)
        }
    }
}
