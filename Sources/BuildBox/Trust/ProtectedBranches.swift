import Git
import Pipeline

/// The branches that make what they hold "merged", as the watched repository has them at this moment.
struct ProtectedBranches: Sendable, Equatable {
    /// The branch that changes want into; first among the protected ones.
    let defaultBranch: String?
    /// The tip of each protected branch, the default branch first, then by name.
    let tips: [Tip]

    struct Tip: Sendable, Equatable {
        var branch: String
        var commit: OID
    }

    /// - Parameter target: The branch that changes want into, where the user named one.
    static func read(
        _ repository: Repository, _ snapshot: RefSnapshot, _ policy: TrustPolicy, _ rules: ChangeRefs, target: String?
    ) -> ProtectedBranches {
        let name = Sighting.defaultTarget(repository, snapshot, preferred: target)
        var tips: [Tip] = []
        if let name, let commit = snapshot.refs["refs/heads/\(name)"] { tips.append(Tip(branch: name, commit: commit)) }
        let others = snapshot.refs.entries(under: "refs/heads/").compactMap { ref, commit -> Tip? in
            // A branch that is a change is nobody's to protect, whatever it is called.
            guard case .branch(let branch) = rules.kind(of: ref), branch != name,
                policy.protected.contains(where: { $0.matches(branch) })
            else { return nil }
            return Tip(branch: branch, commit: commit)
        }
        return ProtectedBranches(defaultBranch: name, tips: tips + others.sorted { $0.branch < $1.branch })
    }

    /// The tip of the default branch.
    var defaultTip: OID? { tips.first { $0.branch == defaultBranch }?.commit }

    /// The branch that has `commit` at its tip or in its history; nil if none has, also where only the object exists.
    func holder(of commit: OID, in repository: Repository) throws -> String? {
        if let tip = tips.first(where: { $0.commit == commit }) { return tip.branch }
        // Objects outlive their refs, and anybody's fork may share them: being there says nothing.
        guard repository.contains(commit) else { return nil }
        return try tips.first { try repository.isAncestor(commit, of: $0.commit) }?.branch
    }
}
