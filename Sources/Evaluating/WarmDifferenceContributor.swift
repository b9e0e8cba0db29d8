import Workspaces
import Engine
import Store
import Results
import Logging

/// Compares a fresh run with one of the same tree in a warm workspace. A different verdict is a finding, and for merged
/// code the snapshots of the workflow and branch are dropped.
struct WarmDifferenceContributor: ReportContributor {
    let reports: any ReportSource
    let snapshots: SnapshotStore
    let log: Logger

    /// How the two verdicts differ.
    private enum Difference {
        /// Products of an earlier run hide a failure.
        case hidesFailure
        /// These steps failed only in the warm workspace.
        case blocks([String])
    }

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let (report, request) = (draft.report, run.request)
        // A repetition of such a run has the same request, but may start from a snapshot.
        guard request.beginsFromNothing, report.base == nil else { return }
        guard let (id, hasPassed) = warmRun(of: request), let branch = request.branch else { return }
        // The archive may have removed the warm run. That it passed and left a snapshot may still be known, and the
        // snapshots above that one still exist.
        let warm = try? await reports.report(id)
        if let warm {
            // Two machines may give two verdicts without any snapshot.
            guard warm.base != nil, warm.testedTree == report.testedTree, warm.machine == report.machine else { return }
        } else if !hasPassed || request.options.machine != report.machine {
            return
        }
        guard let difference = await difference(report, warm) else { return }
        draft.report.findings.append(await finding(difference, report, warmRun: id, branch: branch))
    }

    /// The warm run that a fresh run is compared with, and whether it is known to have passed.
    private func warmRun(of request: RunRequest) -> (RunID, hasPassed: Bool)? {
        switch request.kind {
        case .cleanBuild(let run, let hasFailed): run.map { ($0, !hasFailed) }
        case .rerun(let rerun) where request.options.isClean: (rerun.of, false)
        default: nil
        }
    }

    private func difference(_ report: Report, _ warm: Report?) async -> Difference? {
        switch (warm?.verdict ?? .passed, report.verdict) {
        case (.passed, .failed), (.passed, .definitionError):
            return await isProofsFault(report, warm) ? nil : .hidesFailure
        case (.failed, .passed):
            // A step that ran only once gives no comparison.
            let passed = Set(report.steps.filter { $0.status == .passed }.map(\.name))
            let blocked = (warm?.steps ?? []).filter { $0.status == .failed && !$0.allowsFailure }.map(\.name)
            return !blocked.isEmpty && passed.isSuperset(of: blocked) ? .blocks(blocked) : nil
        default: return nil
        }
    }

    private func finding(
        _ difference: Difference, _ report: Report, warmRun id: RunID, branch: String
    ) async -> Finding {
        let hides: Bool
        var message: String
        switch difference {
        case .hidesFailure:
            hides = true
            message =
                "run \(id) passed with the same tree in a warm workspace but fails in a fresh one: something that an earlier "
                + "run built hides a failure"
        case .blocks(let steps):
            hides = false
            message =
                "run \(id) failed with the same tree in a warm workspace but passes in a fresh one: something that an earlier run "
                + "built breaks \(steps.joined(separator: ", ")), or the result is random"
        }
        log.log(level: hides ? .error : .warning, "run \(report.id) of \(report.workflow) on \(branch): \(message)")
        if report.trust == .merged {
            let line = SnapshotLine(repository: report.repository, workflow: report.workflow, branch: branch)
            let gone = await snapshots.giveUp(line, until: report.id)
            message += ". Removed \(gone) warm workspace\(gone == 1 ? "" : "s") of \(line.workflow) on \(branch)"
            if hides { message += " and the proofs made in them" }
        }
        return Finding(
            rule: Report.warmDiffers, severity: hides ? .error : .warning, message: message + ".",
            suggestion: hides
                ? "`pipectl rerun \(id) --clean` reproduces it; declare what the build depends on"
                : "a step must be able to run twice in the same workspace: `pipectl logs \(id)`")
    }

    /// Whether every step that failed in the fresh run was only proved in the warm run, by runs that also started
    /// fresh: then no earlier build is to blame. The report says in any case that the proof was wrong.
    private func isProofsFault(_ report: Report, _ warm: Report?) async -> Bool {
        let failed = report.steps.filter { $0.status == .failed && !$0.allowsFailure }.map(\.name)
        for name in failed {
            guard let proof = warm?.steps.first(where: { $0.name == name })?.provedBy,
                let source = try? await reports.report(proof.run), source.base == nil
            else { return false }
        }
        return !failed.isEmpty
    }
}
