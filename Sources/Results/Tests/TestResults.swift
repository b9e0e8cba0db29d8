/// What one or more result files say.
public struct TestResults: Sendable, Equatable {
    /// Every try of every test, in the order of the file; tries of one test have rising ``TestResult/attempt``.
    public var tests: [TestResult]

    /// What could not be read or had to be cut, and what to do about it.
    public var findings: [Finding]

    public init(tests: [TestResult] = [], findings: [Finding] = []) {
        self.tests = tests
        self.findings = findings
    }
}
