import Watching
import Results
import Store
import Git
import Pipeline

/// The facts from which it is decided whether a run may start.
package struct TrustFacts: Sendable, Equatable {
    /// Whether it was started by hand on a working tree: the person's own code, by the person's own request.
    var isWorkingTree = false
    /// What is tested, in words: `change 7 into main`.
    var subject: String
    /// The protected branch that contains the tested commit; nil if none does.
    var mergedInto: String?
    /// The branch into which it would have to be merged.
    var defaultBranch: String?
    /// Whether the workflow is a release.
    var isRelease = false
    /// The author of the head.
    var author: Signature
    /// The other authors of the tested commits. Set only for commits of a merge queue.
    var otherAuthors: [Signature] = []
    /// Who brings it, as a connected forge says; then the author does not count. Nil where none is connected.
    var contributor: Contributor?
    /// The paths that the run changes relative to the protected branch, with old names of renamed files; empty if
    /// unknown.
    var changedPaths: [String] = []
    /// The approval rule of the trusted definition.
    var rule: ApprovalRule?
    /// The run's part in a task; then people have handed the work out, and no author counts.
    var task: TaskRole?
}

/// Decides whether a run may start: how far it is trusted, and whether a person must approve. A pure function.
struct TrustDecision: Sendable, Equatable {
    enum Ruling: Sendable, Equatable {
        case allowed
        /// A person must approve first. `why` is a sentence; with `isForThisRun`, the answer is valid for no other run.
        case needsApproval(why: String, isForThisRun: Bool)
        /// It may not run on this daemon, not even with approval.
        case refused(why: String)
    }

    var trust: Trust
    var ruling: Ruling

    static func make(_ facts: TrustFacts, _ policy: TrustPolicy) -> TrustDecision {
        let trust: Trust = facts.mergedInto == nil || facts.isWorkingTree ? .change : .merged
        if facts.isWorkingTree { return TrustDecision(trust: trust, ruling: .allowed) }
        if trust == .change, let refusal = policy.refusal {
            return TrustDecision(trust: trust, ruling: .refused(why: refusal))
        }
        // The definition of the target says what an agent does.
        if let task = facts.task, task.isOfAgent { return TrustDecision(trust: trust, ruling: .allowed) }
        // A release needs approval each time; a test only once for the same commit and definition.
        var acts: [String] = []
        var tests: [String] = []
        if facts.rule?.isAlways == true { acts.append("the workflow requires approval for every run") }
        if trust == .change {
            if facts.isRelease {
                let branch = facts.defaultBranch.map { "\($0) or another" } ?? "a"
                acts.append(
                    "\(facts.subject) is not merged into \(branch) protected branch, but the workflow is a release")
            }
            if facts.task != nil {
                // Who may hand out tasks was decided when this one was made.
            } else if let contributor = facts.contributor {
                if let objection = policy.objection(to: contributor) { tests.append(objection) }
            } else if let author = ([facts.author] + facts.otherAuthors).first(where: { !policy.allows(author: $0) }) {
                tests.append("its author \(author.name) <\(author.email)> is not among the allowed authors")
            }
            tests += touched(facts, policy)
        }
        guard !acts.isEmpty || !tests.isEmpty else { return TrustDecision(trust: trust, ruling: .allowed) }
        let why = (acts + tests).joined(separator: "; ")
        return TrustDecision(trust: trust, ruling: .needsApproval(why: why, isForThisRun: !acts.isEmpty))
    }

    /// The reasons why the changed paths need approval; empty if none do.
    private static func touched(_ facts: TrustFacts, _ policy: TrustPolicy) -> [String] {
        let globs = policy.protectedPaths + (facts.rule?.paths ?? []).compactMap { try? Glob($0) }
        var reasons: [String] = []
        func add(_ paths: [String], _ why: String) {
            guard !paths.isEmpty else { return }
            let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
            reasons.append("it changes \(paths.prefix(3).joined(separator: ", "))\(more), \(why)")
        }
        add(
            facts.changedPaths.filter { path in globs.contains { $0.matches(path) } },
            "which is protected")
        add(
            facts.changedPaths.filter { path in globs.contains { $0.isCheckedOut(by: path) } },
            "which controls how protected files are checked out")
        add(facts.changedPaths.filter(SettingsPath.isObeyed), "which configures agents or forges")
        return reasons
    }
}
