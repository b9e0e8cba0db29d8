public import Results
import Pipeline

/// A step that passed in an earlier attempt at the same run, in whose workspace this one goes on.
///
/// Unlike a ``ProvedStep`` it has no key: what it left stands for this repetition and for nothing else.
public struct CarriedStep: Sendable, Equatable {
    public var citation: ProofCitation
    public var tests: [TestResult]
    public var testCounts: TestCounts?
    /// What tools said about files in it.
    public var findings: [Finding]
    /// The files that were kept with that run's report; the archive has them.
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
    /// A step that an earlier attempt has done, as this run's report tells it.
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
