/// The content of one or more result files.
public struct TestResults: Sendable, Equatable {
    /// Every try of every test, in the order of the file. The tries of a test have increasing ``TestResult/attempt``.
    public var tests: [TestResult]

    /// What could not be read or had to be cut, and what to do about it.
    public var findings: [Finding]

    /// The format of the first file; nil if it was not recognised.
    public var format: ResultFormat?

    public init(tests: [TestResult] = [], findings: [Finding] = [], format: ResultFormat? = nil) {
        self.tests = tests
        self.findings = findings
        self.format = format
    }
}

extension TestResults {
    /// The last result of each failed test, in the order of the results.
    public static func lastFailures(among tests: [TestResult]) -> [TestResult] {
        var last: [String: TestResult] = [:]
        var order: [String] = []
        for test in tests {
            if last[test.id] == nil { order.append(test.id) }
            if (last[test.id]?.attempt ?? 0) <= test.attempt { last[test.id] = test }
        }
        return order.compactMap { last[$0] }.filter(\.status.isFailure)
    }
}
