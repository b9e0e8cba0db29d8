import Archive
import Engine
import Foundation
import Git
import Integrity
import Logging
import Pipeline

/// Whether a change does what the target's definition says that it may not do unasked.
extension RunExecutor {
    /// What the sources say; nil where the definition asks nothing, or the run is of no change.
    func integrity(_ prepared: RunPreparation, in repository: WatchedRepository) async -> IntegrityOutcome? {
        guard let rules = prepared.declaration.integrity, let change = prepared.context.change,
            let target = OID(hex: change.targetCommit)
        else { return nil }
        let tested = prepared.tested
        do {
            return try await withRepository(at: repository.store) { store in
                try ChangeSources(store: store, old: target, new: tested).outcome(of: rules)
            }
        } catch {
            // Nothing is concluded from absence: what could not be read was not found to be good.
            let breach = Breach(
                .unreadable, .unclear, message: "the sources of the change can't be read: \(error)", file: "")
            return IntegrityOutcome(breaches: [breach])
        }
    }

    /// Adds what was found to the report, and makes a run that passed wait for a person's word if something was.
    func judge(
        _ sources: IntegrityOutcome?, _ report: inout Report, _ tests: [TestResult], _ prepared: RunPreparation,
        _ request: RunRequest, in repository: WatchedRepository
    ) async {
        guard let sources, let rules = prepared.declaration.integrity, let change = report.change else { return }
        let expanded = IntegrityCheck(rules: rules).rules
        var breaches = sources.breaches
        var integrity = Report.Integrity(breaches: 0)
        // Results tell of tests that are gone only where all steps ran here and there, of the same two commits.
        if !request.isPartial, report.verdict == .passed || report.verdict == .flaky,
            let target = try? await index.latestRun(
                repository: report.repository, workflow: report.workflow, on: .commit(change.targetCommit)),
            target.id != report.id, let targetTests = try? await index.tests(of: target.id), !targetTests.isEmpty
        {
            integrity.heldAgainst = target.id
            let found = ResultIntegrity(rules: expanded, sources: sources).breaches(tests, targetTests)
            breaches += await located(found, prepared.tested, target: change.targetCommit, in: repository)
        }
        integrity.breaches = breaches.count
        report.integrity = integrity
        guard !breaches.isEmpty else { return }
        report.findings += breaches.map { Finding($0, run: report.id) }
        guard report.verdict == .passed || report.verdict == .flaky else { return }
        let definition = prepared.definition.tree
        let binding = Approval.binding(request, definition: definition, breaches: breaches.map(\.fingerprint))
        if let word = try? await index.approval(holdingFor: binding) {
            report.approvals = (report.approvals ?? []) + [word]
            return
        }
        let first = breaches.first { $0.certainty == .seen } ?? breaches[0]
        let more = breaches.count > 1 ? ", and \(breaches.count - 1) more" : ""
        let why = "\(first.message)\(more)"
        log.notice(
            "run \(report.id) needs approval: \(TerminalText.name(why, limit: 500)); \(Approval.command(report.id))")
        report.integrity?.verdict = report.verdict
        report.integrity?.reason = report.reason
        report.reason = "\(report.reason); but its changes need approval: \(why)"
        report.verdict = .needsApproval
        report.approvals =
            (report.approvals ?? []) + [
                Approval(
                    why: why, head: request.head, definition: definition, binding: binding, askedAt: Date())
            ]
    }
}

extension RunExecutor {
    /// With the lines that declare the tests, where results name no file: of one that is gone, the line on the target.
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

extension Breach {
    /// The same breach in another run has the same, wherever its lines have moved.
    var fingerprint: String { "\(kind.rawValue)\0\(file)\0\(test ?? "")\0\(message)" }
}

extension Finding {
    init(_ breach: Breach, run: RunID) {
        self.init(
            rule: "integrity-\(breach.kind.rawValue)", severity: breach.certainty == .seen ? .error : .warning,
            message: breach.message, file: breach.file.isEmpty ? nil : breach.file, line: breach.line, column: nil,
            suggestion: breach.certainty == .seen
                ? "undo it, or have it approved: \(Approval.command(run))"
                : "a person must judge it: \(Approval.command(run))")
    }
}
