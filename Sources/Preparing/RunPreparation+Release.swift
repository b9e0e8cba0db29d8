import Engine
import Git
import Pipeline
import Results
import Watching

extension RunPreparation {
    /// The rule of a finding: why the steps of a release were left out of a run.
    package static let releaseLeftOut = "release-left-out"
    static let workingTree = "only merged code is released, and this is a working tree"

    /// Leaves the steps out that make or publish the release, and all others that have effects outside.
    ///
    /// - Parameter reason: Why nothing is released, and what to do for the next release.
    /// - Throws: ``EarlyVerdict`` with ``Verdict/notApplicable`` if no step is left.
    package mutating func leaveReleaseOut(because reason: String) throws {
        let whole = plan
        plan = whole.withoutActing
        guard !plan.steps.isEmpty else {
            throw EarlyVerdict(verdict: .notApplicable, reason: reason, tested: tested)
        }
        whyWithoutRelease = reason
        notes.append(Self.note(of: plan, without: whole, because: reason))
    }

    /// The part of the plan that a working tree may run: without its release.
    ///
    /// - Throws: ``EarlyVerdict`` if no step is left, or if one was requested that is left out.
    static func trial(of plan: Plan, for request: RunRequest, tested: OID) throws -> (plan: Plan, note: Finding?) {
        guard request.isWorkingTree, plan.releases else { return (plan, nil) }
        let rest = plan.withoutReleasing
        let reason = workingTree
        let names = rest.steps.map(\.name)
        if let missing = request.onlySteps?.first(where: { !names.contains($0) && rest.parts(of: $0) == nil }) {
            let others = names.isEmpty ? "" : "; \(names.map { "\"\($0)\"" }.joined(separator: ", ")) can"
            throw EarlyVerdict(
                verdict: .definitionError, reason: "step \"\(missing)\" can't run here: \(reason)\(others)",
                tested: tested)
        }
        guard !rest.steps.isEmpty else {
            throw EarlyVerdict(verdict: .notApplicable, reason: reason, tested: tested)
        }
        return (rest, note(of: rest, without: plan, because: reason))
    }

    private static func note(of rest: Plan, without whole: Plan, because reason: String) -> Finding {
        let kept = Set(rest.steps.map(\.name))
        let left = whole.steps.map(\.name).filter { !kept.contains($0) }
        let more = left.count > 10 ? " and \(left.count - 10) more" : ""
        return Finding(
            rule: releaseLeftOut, severity: .note,
            message: "\(reason). These steps were left out: "
                + left.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ") + more)
    }

    /// The commit of a version's tag if that is an ancestor of `commit`.
    static func tag(of version: ReleaseVersion, before commit: OID, in source: Repository) throws -> OID? {
        guard let tag = try source.ref("refs/tags/\(version.tag)"),
            let there = try? source.resolve("\(tag.hex)^{commit}"), there != commit,
            source.contains(commit), try source.isAncestor(there, of: commit)
        else { return nil }
        return there
    }

    /// Ends a run that could release nothing, before somebody is asked to approve it.
    ///
    /// - Throws: ``EarlyVerdict`` if unmerged code would be released.
    static func checkMerged(_ plan: Plan, _ trust: Trust, _ request: RunRequest, tested: OID) throws {
        // A release that a change starts is refused by its declaration.
        guard trust == .change, plan.releases, request.change == nil else { return }
        throw EarlyVerdict(verdict: .failed, reason: ReleaseFailure.unmerged.reason, tested: tested, trust: trust)
    }

    /// The command that repeats the run as far as it releases nothing; nil if nothing is left of it.
    ///
    /// - Parameter whole: The command that repeats the whole run.
    package func harmless(_ whole: String) -> String? {
        // A working tree is never released.
        guard declaration.runsAtMostOnce || wholePlan.releases, !context.ref.isEmpty else { return whole }
        if whole.contains(" --step ") { return plan.withoutActing.steps.count == plan.steps.count ? whole : nil }
        let rest = plan.withoutActing.steps
        let needed = Set(rest.flatMap(\.needs))
        let last = rest.map(\.name).filter { !needed.contains($0) }
        return last.isEmpty ? nil : whole + last.map { " --step \($0.shellQuoted)" }.joined()
    }
}

extension RunRequest {
    /// Whether a branch that moved or a schedule started it, so that nobody asked for a release of this commit.
    package var followsBranch: Bool {
        switch event {
        case .merge, .push, .schedule: true
        case .pullRequest, .tag, .manual: false
        }
    }
}
