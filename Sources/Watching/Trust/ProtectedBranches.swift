import Results
package import Git
import Pipeline

/// The protected branches of the watched repository at this moment. Commits in their history are merged.
package struct ProtectedBranches: Sendable, Equatable {
    /// The target branch and its tip. It is set even if it is a guess, which protects nothing.
    package let target: Tip?
    /// The tip of each protected branch, the target first, then by name.
    package let tips: [Tip]

    package struct Tip: Sendable, Equatable {
        package var branch: String
        package var commit: OID
    }

    package static func read(_ snapshot: RefSnapshot, _ rules: TrustRules) -> ProtectedBranches {
        let branch = rules.target.branch(in: snapshot.refs)
        let target = branch.flatMap { branch in
            snapshot.refs["refs/heads/\(branch.name)"].map { Tip(branch: branch.name, commit: $0) }
        }
        let others = snapshot.refs.entries(under: "refs/heads/").compactMap { ref, commit -> Tip? in
            // A branch that is a change can't be protected, whatever its name is.
            guard case .branch(let branch) = rules.changeRefs.kind(of: ref), branch != target?.branch,
                rules.policy.protected.contains(where: { $0.matches(branch) })
            else { return nil }
            return Tip(branch: branch, commit: commit)
        }
        let own = branch?.isProtected == true ? [target].compactMap { $0 } : []
        return ProtectedBranches(target: target, tips: own + others.sorted { $0.branch < $1.branch })
    }

    /// The tip of the target branch.
    package var defaultTip: OID? { target?.commit }

    /// The target branch, if it is protected.
    package var defaultBranch: String? { tips.first { $0 == target }?.branch }

    /// The protected branch that has `commit` at its tip or in its history; nil if none has, even if the object exists.
    package func holder(of commit: OID, in repository: Repository) throws -> String? {
        if let tip = tips.first(where: { $0.commit == commit }) { return tip.branch }
        // Objects outlive their refs, and forks may share them, so existence proves nothing.
        guard repository.contains(commit) else { return nil }
        return try tips.first { tip in
            do throws(GitError) {
                return try repository.isAncestor(commit, of: tip.commit)
            } catch  where error.isAboutObjects {
                // If a branch's history can't be read, nothing counts as merged into it; other branches still count.
                return false
            }
        }?.branch
    }
}
