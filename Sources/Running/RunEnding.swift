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

/// What the phases up to the evaluation came to.
package struct RunEnding: Sendable {
    var draft: ReportDraft
    /// Paths below the run's folder of results.
    var resultFiles: [String] = []
    /// Nil where the run ended before it had a workspace.
    var workspace: FinishedWorkspace?
    /// Why the run has no verdict yet and waits in the queue again; nil where it has one.
    var putBack: String?
    /// Whether its workflow wants the causes of new failures looked for.
    package var bisectsWhenRed = false

    package init(report: Report) { draft = ReportDraft(report: report) }

    package var report: Report {
        get { draft.report }
        set { draft.report = newValue }
    }

    /// Notes what is known once the run is prepared.
    mutating func take(_ prepared: RunPreparation) {
        report.testedCommit = prepared.tested.hex
        report.testedTree = prepared.tree.hex
        report.definition = prepared.definition
        report.parameters = prepared.context.parameters
        report.trust = prepared.trust
        report.findings += prepared.notes
        bisectsWhenRed = prepared.declaration.bisectsWhenRed == true
    }

    /// Notes what the steps came to.
    mutating func take(_ ended: EndedSteps, _ prepared: RunPreparation) {
        let outcome = ended.outcome
        workspace = ended.workspace
        report.base = ended.workspace?.base
        report.cold = ended.workspace?.cold
        report.resumed = ended.workspace?.resumed
        report.fix = ended.workspace?.fix ?? report.fix
        report.findings += ended.review.map { [$0] } ?? []
        report.verdict = outcome.verdict
        report.reason = outcome.reason
        report.steps = outcome.steps
        report.artifacts = outcome.artifacts
        report.findings += outcome.findings + QuarantineList(prepared.declaration.quarantine).findings
        draft.tests = outcome.tests
        resultFiles = outcome.resultFiles
    }

    /// Notes a verdict that was clear before the first step.
    mutating func take(_ early: EarlyVerdict, stop: StopRequest?) {
        (report.verdict, report.reason) = (early.verdict, early.reason)
        if early.question != nil {
            // A newer run overtook it while it was prepared: nobody is asked any more.
            report.verdict = stop.map { $0.kind == .superseded } ?? true ? .superseded : .cancelled
            report.reason = stop?.reason ?? "A newer run took its place."
        }
        report.trust = early.trust ?? report.trust
        report.conflicts = early.conflicts
        report.findings += early.findings
        report.testedCommit = early.tested?.hex
    }

    /// Notes that the run could not be carried out.
    mutating func take(_ error: any Error) {
        report.verdict = .infrastructure
        report.reason =
            DiskErrors.isFull(error)
            ? "disk full: the build box could not run it: \(error)" : "the build box could not run it: \(error)"
    }
}

/// What a run's steps came to, and what they left.
struct EndedSteps: Sendable {
    var outcome: RunOutcome
    /// About a workflow definition that the change brings.
    var review: Finding?
    /// Nil where every step was proved, so that none needed a workspace.
    var workspace: FinishedWorkspace?
}
