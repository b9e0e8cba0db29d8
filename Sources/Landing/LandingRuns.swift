import Running
import Control
import Foundation
import Git
import MergeQueue
import Pipeline
import Results
import Store

/// The runs that test the commits of one merge queue.
struct LandingRuns: Sendable {
    let index: Store.Index
    let queue: RunQueue
    let repository: String
    let branch: String

    /// Starts the runs that test a commit, or finds those that were started before.
    ///
    /// - Parameters:
    ///   - found: The rules with which it is tested.
    ///   - entries: The changes in the commit, in order.
    func start(
        _ result: StackResult, _ entries: [QueueEntry], target: String, _ found: LandingDeclarations.Found
    ) async throws -> [String: RunID] {
        guard let last = entries.last else { return [:] }
        let record = try await index.change(last.change, of: repository)
        let change = Change(
            name: last.change, head: last.head, target: branch, targetCommit: target, title: last.title,
            author: record?.author ?? "")
        let recognition = MergedChange.Recognition(found.landing.method)
        let changes = zip(entries, result.commits).map { entry, commit in
            MergedChange(name: entry.change, head: entry.head, commit: commit, recognition: recognition)
        }
        var runs: [String: RunID] = [:]
        for workflow in found.rules.workflows {
            let request = RunRequest(
                repository: repository, workflow: workflow, event: .pullRequest,
                ref: RunRequest.queuePrefix + branch, branch: branch, head: result.commit,
                definitionCommit: found.definition.hex, previous: target, change: change, kind: .landing(changes),
                nonce: "landing \(found.rules.definition.prefix(16)) attempt \(result.attempt)",
                // The commit is part of the subject, so that it does not supersede runs of other commits of the queue.
                subject: "merge queue of \(branch) at \(result.commit)", concurrency: .supersede)
            runs[workflow] = try await queue.accept(request).run.id
        }
        return runs
    }

    /// The result of all runs of a commit; nil while it is not known.
    func outcome(of result: StackResult) async throws -> TestOutcome? {
        var outcomes: [TestOutcome?] = []
        for (_, run) in result.runs.sorted(by: { $0.value < $1.value }) {
            guard let summary = try await index.run(run)?.summary else {
                outcomes.append(.undecided("run \(run) is gone"))
                continue
            }
            outcomes.append(Self.outcome(of: summary, commit: result.commit))
        }
        return Self.sum(outcomes)
    }

    static func outcome(of run: RunSummary, commit: String) -> TestOutcome? {
        guard let verdict = run.verdict else { return nil }
        let reason = "run \(run.id): \(run.reason ?? verdict.title)"
        switch verdict {
        case .passed, .notApplicable:
            // A commit lands only if the run tested exactly that commit.
            guard run.testedCommit == commit else { return .undecided("run \(run.id) did not test \(commit)") }
            return .passed
        case .flaky: return .flaky
        case .failed, .conflict, .definitionError, .needsApproval: return .failed
        case .infrastructure, .superseded: return .undecided(reason)
        case .cancelled: return .cancelled(reason)
        }
    }

    /// Combines the results. One failed run decides at once; otherwise all must have ended.
    static func sum(_ outcomes: [TestOutcome?]) -> TestOutcome? {
        let known = outcomes.compactMap { $0 }
        if known.contains(.failed) { return .failed }
        guard known.count == outcomes.count, !known.isEmpty else { return nil }
        if let cancelled = known.first(where: { if case .cancelled = $0 { true } else { false } }) { return cancelled }
        if let open = known.first(where: { if case .undecided = $0 { true } else { false } }) { return open }
        return known.contains(.flaky) ? .flaky : .passed
    }

    /// Cancels runs that the queue no longer needs.
    func end(_ runs: Set<RunID>) async throws {
        for run in runs.sorted() {
            guard try await index.run(run)?.summary.verdict == nil else { continue }
            _ = try await queue.cancel(run, reason: "the merge queue of \(branch) tests something else now")
        }
    }
}

extension MergedChange.Recognition {
    init(_ method: LandingMethod) {
        self =
            switch method {
            case .squash: .squash
            case .merge: .merge
            case .rebase: .rebase
            }
    }
}
