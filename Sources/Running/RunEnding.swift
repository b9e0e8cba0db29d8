import Watching
import Preparing
import Evaluating
import Concurrency
import Workspaces
package import Results
import Store
import Engine
import Foundation
import Git
import Pipeline

/// The result of all phases up to the evaluation.
package struct RunEnding: Sendable {
    var draft: ReportDraft
    /// Paths below the run's folder of results.
    var resultFiles: [String] = []
    /// Nil if the run ended before it had a place.
    var place: (any FinishedPlace)?
    /// Why the run has no verdict and is queued again; nil if it has a verdict.
    var putBack: String?
    /// Whether its workflow wants failures of the branch bisected.
    package var bisectsWhenRed = false

    package init(report: Report) { draft = ReportDraft(report: report) }

    package var report: Report {
        get { draft.report }
        set { draft.report = newValue }
    }

    /// Records the facts of a prepared run.
    mutating func take(_ prepared: RunPreparation) {
        report.testedCommit = prepared.tested.hex
        report.testedTree = prepared.tree.hex
        report.definition = prepared.definition
        report.parameters = prepared.context.parameters
        report.trust = prepared.trust
        report.findings += prepared.notes
        report.reproduce = prepared.harmless(report.reproduce) ?? "pipectl rerun \(report.id)"
        bisectsWhenRed = prepared.declaration.bisectsWhenRed == true && report.task == nil
    }

    /// Records the results of the steps.
    mutating func take(_ ended: EndedSteps, _ prepared: RunPreparation) {
        let outcome = ended.outcome
        place = ended.place
        report.base = ended.place?.base
        report.cold = ended.place?.cold
        report.resumed = ended.place?.resumed
        report.machine = ended.place?.machine
        report.fix = ended.fix ?? report.fix
        report.task = ended.task ?? report.task
        report.findings += ended.review.map { [$0] } ?? []
        report.verdict = outcome.verdict
        report.reason = outcome.reason
        if outcome.verdict == .passed, let why = prepared.whyWithoutRelease { report.reason += "; no release: \(why)" }
        report.steps = outcome.steps
        report.artifacts = outcome.artifacts
        report.findings += outcome.findings + QuarantineList(prepared.declaration.quarantine).findings
        draft.tests = outcome.tests
        resultFiles = outcome.resultFiles
    }

    /// Records a verdict that was known before the first step.
    mutating func take(_ early: EarlyVerdict, stop: StopRequest?) {
        (report.verdict, report.reason) = (early.verdict, early.reason)
        if early.question != nil {
            // A newer run superseded it while it was prepared, so nobody is asked for approval.
            report.verdict = stop.map { $0.kind == .superseded } ?? true ? .superseded : .cancelled
            report.reason = stop?.reason ?? "A newer run took its place."
        }
        report.trust = early.trust ?? report.trust
        report.conflicts = early.conflicts
        report.findings += early.findings
        report.testedCommit = early.tested?.hex
    }

    /// Records that the run could not be executed.
    mutating func take(_ error: any Error) {
        report.verdict = .infrastructure
        report.reason =
            DiskErrors.isFull(error)
            ? "disk full: the build box could not run it: \(error)" : "the build box could not run it: \(error)"
    }
}

/// The results of a run's steps, and their workspace.
struct EndedSteps: Sendable {
    var outcome: RunOutcome
    /// The finding about the workflow definition that the change brings.
    var review: Finding?
    /// Nil if every step was proved, so none needed a place.
    var place: (any FinishedPlace)?
    /// The result of a fixer; nil for all other runs.
    var fix: FixRecord?
    /// The result of a task's agent; nil for all other runs.
    var task: TaskOutcome?
}
