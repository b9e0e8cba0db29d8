import DaemonLog
package import Watching
package import Preparing
import Store
import Reports
package import Results
import TerminalText
import Foundation
import Git
package import TestIntegrity
import Logging
import Pipeline

/// Reports ways in which the change weakens its tests against the target's rules. A run that passed then needs
/// approval.
struct IntegrityContributor: ReportContributor {
    let index: Store.Index
    let log: Logger
    var now: @Sendable () -> Date = { Date() }

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        guard let sources = run.sources, draft.report.change != nil else { return }
        let (breaches, comparedWith) = await breaches(draft, run, sources)
        draft.report.integrity = Report.Integrity(breaches: breaches.count)
        draft.report.integrity?.heldAgainst = comparedWith
        guard !breaches.isEmpty else { return }
        draft.report.findings += breaches.map { Finding($0, run: draft.report.id) }
        guard draft.report.verdict == .passed || draft.report.verdict == .flaky else { return }
        await askForApproval(&draft.report, breaches, run)
    }

    /// The breaches in the sources and, if the same tests ran on the target commit, in the results.
    ///
    /// - Returns: The breaches, and the run of the target whose results were compared.
    private func breaches(
        _ draft: ReportDraft, _ run: FinishedRun, _ sources: IntegrityOutcome
    ) async -> ([Breach], RunID?) {
        let report = draft.report
        // Results show missing tests only if all steps ran in both runs, with the same two commits.
        guard !run.request.isPartial, report.verdict == .passed || report.verdict == .flaky,
            let rules = run.prepared.declaration.integrity, let commit = report.change?.targetCommit,
            let target = try? await index.latestRun(
                repository: report.repository, workflow: report.workflow, on: .commit(commit)),
            target.id != report.id, let targetTests = try? await index.tests(of: target.id), !targetTests.isEmpty
        else { return (sources.breaches, nil) }
        let found = ResultIntegrity(rules: IntegrityCheck.spelledOut(rules), sources: sources)
            .breaches(draft.tests, targetTests)
        let located = await located(found, run.prepared.tested, target: commit, in: run.repository)
        return (sources.breaches + located, target.id)
    }

    /// Makes the run wait for approval, unless the same breaches were approved before.
    private func askForApproval(_ report: inout Report, _ breaches: [Breach], _ run: FinishedRun) async {
        let definition = run.prepared.definition.tree
        let binding = Approval.binding(
            run.request, definition: definition, breaches: breaches.map(\.fingerprint))
        if let approval = try? await index.approval(holdingFor: binding) {
            report.approvals = (report.approvals ?? []) + [approval]
            return
        }
        let first = breaches.first { $0.certainty == .seen } ?? breaches[0]
        let more = breaches.count > 1 ? ", and \(breaches.count - 1) more" : ""
        let why = "\(first.message)\(more)"
        log.notice(
            "run \(report.id) needs approval: \(TerminalText.name(why, limit: 500)); \(Approval.command(report.id))",
            metadata: .code(.runNeedsApproval, run: report.id, repository: report.repository))
        report.integrity?.verdict = report.verdict
        report.integrity?.reason = report.reason
        report.reason = "\(report.reason); but its changes need approval: \(why)"
        report.verdict = .needsApproval
        report.approvals =
            (report.approvals ?? []) + [
                Approval(why: why, head: run.request.head, definition: definition, binding: binding, askedAt: now())
            ]
    }

    /// Adds to breaches without a file the line that declares the test; for a removed test, the line on the target.
    private func located(
        _ breaches: [Breach], _ tested: OID, target: String, in repository: WatchedRepository
    ) async -> [Breach] {
        guard let target = OID(hex: target), breaches.contains(where: \.file.isEmpty) else { return breaches }
        let located = try? await withRepository(at: repository.store) { store in
            let lost = breaches.filter(\.file.isEmpty)
            func places(_ kinds: (Breach.Kind) -> Bool, _ commit: OID) throws -> [String: BundleEvidence.Place] {
                try TestLocator(store, commit).places(of: lost.filter { kinds($0.kind) }.compactMap(\.test))
            }
            let gone = try places({ $0 == .removedTest }, target)
            let there = try places({ $0 != .removedTest }, tested)
            return breaches.map { breach in
                var breach = breach
                let place = breach.test.flatMap { breach.kind == .removedTest ? gone[$0] : there[$0] }
                if breach.file.isEmpty, let place { (breach.file, breach.line) = (place.file, place.line) }
                return breach
            }
        }
        return located ?? breaches
    }
}

extension ChangeSources {
    /// The result of the source check; nil if the definition has no rules, or the run tests no change.
    package static func outcome(
        of prepared: RunPreparation, in repository: WatchedRepository, _ reader: any SwiftSourceReader
    ) async -> IntegrityOutcome? {
        guard let rules = prepared.declaration.integrity, let change = prepared.context.change,
            let target = OID(hex: change.targetCommit)
        else { return nil }
        do {
            return try await ChangeSources(in: repository.store, from: target, to: prepared.tested, reader: reader)
                .outcome(of: rules)
        } catch {
            // Nothing is concluded from absence: unreadable sources are not sound sources.
            let breach = Breach(
                .unreadable, .unclear, message: "the sources of the change can't be read: \(error)", file: "")
            return IntegrityOutcome(breaches: [breach])
        }
    }
}

extension Breach {
    /// The same breach in another run has the same fingerprint, even if its lines have moved.
    package var fingerprint: String { "\(kind.rawValue)\0\(file)\0\(test ?? "")\0\(message)" }
}

extension Finding {
    package init(_ breach: Breach, run: RunID) {
        self.init(
            rule: "integrity-\(breach.kind.rawValue)", severity: breach.certainty == .seen ? .error : .warning,
            message: breach.message, file: breach.file.isEmpty ? nil : breach.file, line: breach.line, column: nil,
            suggestion: breach.certainty == .seen
                ? "undo it, or have it approved: \(Approval.command(run))"
                : "a person must judge it: \(Approval.command(run))")
    }
}
