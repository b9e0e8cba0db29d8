public import Results
import Pipeline

/// A step that passed in an earlier run and is not run again, because `rerun --failed` continues in that run's
/// workspace.
///
/// Unlike a ``ProvedStep`` it has no key: its results count for this rerun only.
public struct CarriedStep: Sendable, Equatable {
    /// The run and attempt in which it passed.
    public var citation: ProofCitation
    /// The tests of that attempt.
    public var tests: [TestResult]
    /// Their counts; nil if the step reads no test results.
    public var testCounts: TestCounts?
    /// The findings of tools in that run.
    public var findings: [Finding]
    /// The artifacts of that run; the archive stores their content.
    public var artifacts: [ArtifactRecord]

    public init(
        citation: ProofCitation, tests: [TestResult] = [], testCounts: TestCounts? = nil,
        findings: [Finding] = [], artifacts: [ArtifactRecord] = []
    ) {
        self.citation = citation
        self.tests = tests
        self.testCounts = testCounts
        self.findings = findings
        self.artifacts = artifacts
    }
}

extension StepOutcome {
    /// Records a step that the earlier run has done, for this run's report.
    init(_ carried: CarriedStep, of step: PlannedStep) {
        var record = StepRecord(
            name: step.name, command: step.commandLine, needs: step.needs, status: .passed,
            allowsFailure: step.allowsFailure)
        record.carriedFrom = carried.citation
        record.testCounts = carried.testCounts
        self.init(record: record)
        tests = carried.tests
        findings = carried.findings
        artifacts = carried.artifacts
    }
}
