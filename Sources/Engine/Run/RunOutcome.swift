import Pipeline
package import Results

/// The result of running a plan.
package struct RunOutcome: Sendable {
    /// The result of the whole run.
    package var verdict: Verdict
    /// The reason of the verdict, in one sentence.
    package var reason: String
    /// The records of all steps, in the plan's order.
    package var steps: [StepRecord] = []
    /// Tests of all steps, each with its attempts.
    package var tests: [TestResult] = []
    /// Findings of all steps.
    package var findings: [Finding] = []
    /// Files in ``RunSetting/artifacts``, by digest.
    package var artifacts: [ArtifactRecord] = []
    /// Paths below ``RunSetting/results``.
    package var resultFiles: [String] = []
    /// Whether every process of the run has ended. Until then no other run may use the run's user and caches.
    package var isAllEnded = true

    package init(verdict: Verdict, reason: String) {
        (self.verdict, self.reason) = (verdict, reason)
    }
}

extension StepRecord {
    /// The record of a step that has not started yet.
    init(_ step: PlannedStep) {
        self.init(name: step.name, command: step.commandLine, needs: step.needs, allowsFailure: step.allowsFailure)
    }
}
