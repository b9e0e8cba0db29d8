/// A step that an earlier run has proved, with what the report needs of it.
public struct ProvedStep: Sendable, Equatable {
    public var citation: ProofCitation
    public var key: StepKey
    /// What the run that proved it read of its test results.
    public var tests: [TestResult]
    public var testCounts: TestCounts?
    /// What tools said about files in it.
    public var findings: [Finding]
    /// The files that were kept with that run's report; the archive has them.
    public var artifacts: [ArtifactRecord]
    /// What it made, to be put in place because a step that is run needs it; nil: nobody does.
    public var restores: KeptOutputs?

    public init(
        citation: ProofCitation, key: StepKey, tests: [TestResult] = [], testCounts: TestCounts? = nil,
        findings: [Finding] = [], artifacts: [ArtifactRecord] = [], restores: KeptOutputs? = nil
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

/// What a step made, where the archive has it.
public struct KeptOutputs: Sendable, Equatable {
    public var path: String
    /// Of the file at ``path``, lower-case hexadecimal.
    public var sha256: String

    public init(path: String, sha256: String) {
        self.path = path
        self.sha256 = sha256
    }
}

/// Where the tests of a step are among all of the run.
public struct TestSpan: Sendable, Equatable, Codable {
    /// From 0.
    public var first: Int
    public var count: Int

    public init(first: Int, count: Int) {
        self.first = first
        self.count = count
    }

    /// The tests of the span; none where it does not fit.
    public func of(_ tests: [TestResult]) -> [TestResult] {
        guard first >= 0, count >= 0, first <= tests.count, count <= tests.count - first else { return [] }
        return Array(tests[first..<(first + count)])
    }
}

/// Everything that a step said it makes, kept as one file beside the archive.
public struct OutputRecord: Sendable, Equatable, Codable {
    /// Of the file, lower-case hexadecimal.
    public var sha256: String
    /// Of the file.
    public var bytes: Int
    /// How many files are in it.
    public var files: Int

    public init(sha256: String, bytes: Int, files: Int) {
        self.sha256 = sha256
        self.bytes = bytes
        self.files = files
    }
}
