/// A step that was not run because of a proof, with what the report needs of the earlier run.
public struct ProvedStep: Sendable, Equatable {
    /// The run whose result is used.
    public var citation: ProofCitation
    /// The step's key, which is the same in both runs.
    public var key: StepKey
    /// The test results of the earlier run.
    public var tests: [TestResult]
    /// The counts of the earlier run's step; nil if it had no tests.
    public var testCounts: TestCounts?
    /// The findings of the earlier run.
    public var findings: [Finding]
    /// The artifacts of the earlier run, which are in the archive.
    public var artifacts: [ArtifactRecord]
    /// The outputs that must be restored because a step that needs them runs; nil if no such step runs.
    public var restores: StoredOutputs?

    public init(
        citation: ProofCitation, key: StepKey, tests: [TestResult] = [], testCounts: TestCounts? = nil,
        findings: [Finding] = [], artifacts: [ArtifactRecord] = [], restores: StoredOutputs? = nil
    ) {
        self.citation = citation
        self.key = key
        self.tests = tests
        self.testCounts = testCounts
        self.findings = findings
        self.artifacts = artifacts
        self.restores = restores
    }
}

/// A step's outputs in the archive.
public struct StoredOutputs: Sendable, Equatable {
    /// The absolute path of the file.
    public var path: String
    /// The SHA-256 of the file at ``path``, lower-case hexadecimal.
    public var sha256: String

    public init(path: String, sha256: String) {
        self.path = path
        self.sha256 = sha256
    }
}

/// The position of a step's tests in the list of all tests of a run.
public struct TestSpan: Sendable, Equatable, Codable {
    /// Index of the first test, from 0.
    public var first: Int
    /// The number of tests.
    public var count: Int

    public init(first: Int, count: Int) {
        self.first = first
        self.count = count
    }

    /// The tests of the span; empty if the span is not within the list.
    public func of(_ tests: [TestResult]) -> [TestResult] {
        guard first >= 0, count >= 0, first <= tests.count, count <= tests.count - first else { return [] }
        return Array(tests[first..<(first + count)])
    }
}

/// The outputs of a step, stored as one file beside the archive.
public struct OutputRecord: Sendable, Equatable, Codable {
    /// The SHA-256 of the file, lower-case hexadecimal.
    public var sha256: String
    /// The size of the file.
    public var bytes: Int
    /// The number of files that it contains.
    public var files: Int

    public init(sha256: String, bytes: Int, files: Int) {
        self.sha256 = sha256
        self.bytes = bytes
        self.files = files
    }
}
