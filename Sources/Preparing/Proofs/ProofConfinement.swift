import ProofKeys
import Engine
package import Git
package import Pipeline

/// Decides whether the result of a change's step depends only on merged code and on what is in the step's key.
///
/// Only then is its proof valid for another tree. Otherwise an earlier head could add a file that no step declares,
/// pass with it, and remove it again.
package struct ProofConfinement {
    /// Why a proof is valid only for the tree with which it was made, or a failure counts only for the change in which
    /// it was seen.
    package enum Breach: Sendable, Equatable, CustomStringConvertible {
        /// The change modifies this file, and the key does not cover it.
        case undeclared(path: String)
        /// The run tested a change without a target, or with another target.
        case noTarget
        /// The trees can't be compared.
        case unreadable(String)

        package var path: String? { if case .undeclared(let path) = self { path } else { nil } }

        package var description: String {
            switch self {
            case .undeclared(let path): "that change has its own \(path), which is not among the step's declared inputs"
            case .noTarget: "that run did not test a change into the same branch"
            case .unreadable(let why): "the files of that change can't be read: \(why)"
            }
        }
    }

    /// The repository with the trees that were tested.
    package let repository: Repository
    package let plan: Plan
    /// The target branch of the change.
    package let target: String?

    /// By step, why its proof is valid for no other tree; no entry if it is.
    package func breaches(of proofs: [String: ProofSearch.Found]) -> [String: Breach] {
        struct Question: Hashable { var tree, target: String, patterns: [String] }
        var known: [Question: Breach?] = [:]
        var found: [String: Breach] = [:]
        for (step, proof) in proofs {
            guard let change = proof.change, change.target == target, let tree = proof.tree else {
                found[step] = .noTarget
                continue
            }
            // Such a key covers the whole tree, so there is no other tree that the proof could be valid for.
            guard let patterns = plan.filesInKey(of: step) else { continue }
            let question = Question(tree: tree, target: change.targetCommit, patterns: patterns)
            // Most steps of a run declare the same inputs.
            let breach = known[question] ?? breach(of: tree, against: change.targetCommit, patterns)
            known[question] = .some(breach)
            found[step] = breach
        }
        return found
    }

    /// By step, why its failure in an unmerged run may be due to the run's own change, so that it does not refute the
    /// proofs of others; no entry for steps whose failure does.
    ///
    /// - Parameter tree: The tree that the run tested.
    /// - Parameter change: The change that it tested; nil for a branch, which has no target to compare with.
    package func breaches(ofFailed steps: some Sequence<String>, in tree: OID, of change: Change?) -> [String: Breach] {
        var known: [[String]: Breach?] = [:]
        var found: [String: Breach] = [:]
        for step in steps {
            // If the key covers the whole tree, the proof was made with the same tree.
            guard let patterns = plan.filesInKey(of: step) else { continue }
            guard let change else {
                found[step] = .noTarget
                continue
            }
            let breach = known[patterns] ?? breach(of: tree.hex, against: change.targetCommit, patterns)
            known[patterns] = .some(breach)
            found[step] = breach
        }
        return found
    }

    private func breach(of tree: String, against target: String, _ patterns: [String]) -> Breach? {
        guard let tree = OID(hex: tree), let target = OID(hex: target) else { return .noTarget }
        do {
            let changes = UndeclaredChanges(repository: repository, patterns: patterns)
            return try changes.first(in: tree, against: repository.commit(target).tree).map(Breach.undeclared)
        } catch {
            return .unreadable("\(error)")
        }
    }
}
