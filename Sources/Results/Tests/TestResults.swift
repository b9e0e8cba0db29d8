/// What one or more result files say.
public struct TestResults: Sendable, Equatable {
    /// Every try of every test, in the order of the file; tries of one test have rising ``TestResult/attempt``.
    public var tests: [TestResult]

    /// What could not be read or had to be cut, and what to do about it.
    public var findings: [Finding]

    /// The format that the first of the files is in; nil where none was recognised.
    public var format: ResultFormat?

    public init(tests: [TestResult] = [], findings: [Finding] = [], format: ResultFormat? = nil) {
        self.tests = tests
        self.findings = findings
        self.format = format
    }
}
