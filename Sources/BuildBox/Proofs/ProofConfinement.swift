import Engine
import Git
import Pipeline

/// Whether a change was tested with nothing of its own but what is in a step's key.
///
/// Only then does its proof count for another tree: whatever decided the result besides is merged code. Otherwise an
/// earlier head could bring a file that no step declares, pass with it, and take it out again.
struct ProofConfinement {
    /// Why a proof counts for the tree only with which it was made, or a failure for the change only that it was seen in.
    enum Breach: Sendable, Equatable, CustomStringConvertible {
        /// The change has this file in another form than its target, and the key does not hold it.
        case undeclared(path: String)
        /// What the run tested has no target, or another one.
        case noTarget
        /// The trees can't be compared.
        case unreadable(String)

        var path: String? { if case .undeclared(let path) = self { path } else { nil } }

        var description: String {
            switch self {
            case .undeclared(let path): "that change has its own \(path), which is not among the step's declared inputs"
            case .noTarget: "that run did not test a change into the same branch"
            case .unreadable(let why): "the files of that change can't be read: \(why)"
            }
        }
    }

    /// The repository with the trees that were tested.
    let repository: Repository
    let plan: Plan
    /// The branch that the change wants into.
    let target: String?

    /// By step, why its proof counts for no other tree; nothing for those that do.
    func breaches(of proofs: [String: ProofSearch.Found]) -> [String: Breach] {
        struct Question: Hashable { var tree, target: String, patterns: [String] }
        var known: [Question: Breach?] = [:]
        var found: [String: Breach] = [:]
        for (step, proof) in proofs {
            guard let change = proof.change, change.target == target, let tree = proof.tree else {
                found[step] = .noTarget
                continue
            }
            // Such a key holds the whole tree, so there is no other tree that it could count for.
            guard let patterns = plan.filesInKey(of: step) else { continue }
            let question = Question(tree: tree, target: change.targetCommit, patterns: patterns)
            // Most steps of a run declare the same.
            let breach = known[question] ?? breach(of: tree, against: change.targetCommit, patterns)
            known[question] = .some(breach)
            found[step] = breach
        }
        return found
    }

    /// By step, why its failure in a run that is not merged may come from what that run brought, and so tells nothing
    /// about the proofs of others; nothing for steps whose failure does.
    ///
    /// - Parameter tree: What that run tested.
    /// - Parameter change: The change that it tested; nil for a branch, which has no target to compare with.
    func breaches(ofFailed steps: some Sequence<String>, in tree: OID, of change: Change?) -> [String: Breach] {
        var known: [[String]: Breach?] = [:]
        var found: [String: Breach] = [:]
        for step in steps {
            // Where the key holds the whole tree, the proof was made with the same one.
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
