public import Results

/// What the daemon did for a request that asks for an action.
public enum CompletedAction: Sendable, Equatable, Codable {
    /// The watched repositories that are checked for pushes now; `all` is true if the request named none.
    case looking(repositories: [String], all: Bool)
    case cancelled(RunID, CancelResult)
    /// A person's answer was recorded, or (`isNew` is false) an earlier one stands.
    case answered(RunID, Approval, isNew: Bool)
    /// The proofs of this step are trusted again.
    case trusted(step: String)
    /// The archive was pushed: so many refs.
    case pushed(refs: Int, remote: String)
    /// The branch is the protected branch of the repository now.
    case protected(branch: String, repository: String)
    /// Verdicts of the repository are shown at its forge, or (`isConnected` is false) no longer. `webhook` is the URL that
    /// its webhooks go to; nil where none are heard.
    case connectedForge(repository: String, isConnected: Bool, webhook: String? = nil)
    /// The change is in the merge queue of the branch, so many before it.
    case queuedLanding(change: String, branch: String, before: Int)
    /// The change is in the merge queue no longer.
    case cancelledLanding(change: String, branch: String)
    /// The merge queues of these branches are frozen, or (`isFrozen` is false) go on.
    case frozeQueue(branches: [String], isFrozen: Bool)

    /// The token with this name is invalid now; nil: all sessions of browsers have ended. So many sessions ended with it.
    case revokedToken(String?, sessions: Int)

    /// The release has these notes now.
    case wroteNotes(version: String)
    /// The release is withdrawn; it was published in these places, and publishing had begun in those.
    case yanked(version: String, published: [String], begun: [String]? = nil)

    /// What a request to cancel a run led to.
    public enum CancelResult: String, Sendable, Codable {
        /// The run was still queued.
        case beforeStart
        /// The run's steps are being stopped.
        case stopping
        /// There was nothing to cancel.
        case hadEnded
    }
}

extension CompletedAction {
    /// The action as a sentence without its full stop. Names in it may come from a change: escape it for a terminal.
    public var inWords: String {
        switch self {
        case .looking(let repositories, all: true): return "looking at \(repositories.count) repositories"
        case .looking(let repositories, all: false): return "looking at \(repositories.joined(separator: ", "))"
        case .cancelled(let run, .beforeStart): return "cancelled run \(run) before it started"
        case .cancelled(let run, .stopping): return "cancelling run \(run)"
        case .cancelled(let run, .hadEnded): return "run \(run) has already ended"
        case .answered(let run, let approval, let isNew):
            let subject = approval.step.map { "step \"\($0)\" of run \(run)" } ?? "run \(run)"
            guard isNew else { return "\(subject) was \(approval.inWords) already" }
            return "\(subject): \(approval.decision == .rejected ? "rejected" : "approved")"
        case .trusted(let step): return "results of \"\(step)\" count as proofs again, starting with its next run"
        case .pushed(let refs, let remote): return "pushed \(refs) refs to \(remote)"
        case .connectedForge(let repository, let isConnected, _):
            return "\(repository) is \(isConnected ? "connected" : "disconnected")"
        case .queuedLanding(let change, let branch, let before):
            return "change \(change) is in the merge queue of \(branch), \(before == 0 ? "first" : "behind \(before)")"
        case .cancelledLanding(let change, let branch):
            return "change \(change) is no longer in the merge queue of \(branch)"
        case .frozeQueue(let branches, let isFrozen):
            return "the merge queue of \(branches.joined(separator: ", ")) \(isFrozen ? "is frozen" : "goes on")"
        case .revokedToken(let name, let sessions):
            let ended = "\(sessions) session\(sessions == 1 ? "" : "s") of browsers ended"
            return name.map { "token \"\($0)\" is not valid any more; \(ended)" } ?? ended
        case .wroteNotes(let version): return "release \(version) has new notes"
        case .yanked(let version, let published, let begun):
            var text = "release \(version) is withdrawn"
            if !published.isEmpty { text += "; remove it by hand \(published.joined(separator: ", "))" }
            if let begun, !begun.isEmpty {
                text += "; publishing had begun \(begun.joined(separator: ", ")), so look whether it appears there"
            }
            return text
        case .protected(let branch, let repository): return "\(repository): \(branch) is the protected branch now"
        }
    }
}
