import Watching
import Results
import Git
import Pipeline

/// What is known of a run when it is decided whether it may start.
package struct TrustFacts: Sendable, Equatable {
    /// Started by hand on a working tree: the person's own code, at the person's own word.
    var isWorkingTree = false
    /// What is tested, as a person would say it: `change 7 into main`.
    var subject: String
    /// The protected branch that has the tested commit; nil if none has.
    var mergedInto: String?
    /// The branch that it would have to be merged into.
    var defaultBranch: String?
    /// Whether the workflow acts on the world.
    var isRelease = false
    /// Who wrote the head.
    var author: Signature
    /// Who else wrote what is tested; of the commits of a merge queue.
    var otherAuthors: [Signature] = []
    /// What the run brings against the protected branch, old names of renamed files too; empty if not known.
    var changedPaths: [String] = []
    /// What the trusted definition says.
    var rule: ApprovalRule?
}

/// Whether a run may start: its trust, and whether a person is asked first. Values in, values out.
struct TrustDecision: Sendable, Equatable {
    enum Ruling: Sendable, Equatable {
        case allowed
        /// A person must say so first. `why` is a sentence; with `isForThisRun`, the answer holds for no other run.
        case needsApproval(why: String, isForThisRun: Bool)
        /// Not even a person's word lets it run on this box.
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
        // What acts on the world is asked about each time; what only tests, once for the same commit and definition.
        var acts: [String] = []
        var tests: [String] = []
        if facts.rule?.isAlways == true { acts.append("the workflow requires approval for every run") }
        if trust == .change {
            if facts.isRelease {
                let branch = facts.defaultBranch.map { "\($0) or another" } ?? "a"
                acts.append(
                    "\(facts.subject) is not merged into \(branch) protected branch, but the workflow is a release")
            }
            if let author = ([facts.author] + facts.otherAuthors).first(where: { !policy.allows(author: $0) }) {
                tests.append("its author \(author.name) <\(author.email)> is not among the allowed authors")
            }
            tests += touched(facts, policy)
        }
        guard !acts.isEmpty || !tests.isEmpty else { return TrustDecision(trust: trust, ruling: .allowed) }
        let why = (acts + tests).joined(separator: "; ")
        return TrustDecision(trust: trust, ruling: .needsApproval(why: why, isForThisRun: !acts.isEmpty))
    }

    /// Why what the run brings is a person's to allow; nil if nothing of it is.
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
