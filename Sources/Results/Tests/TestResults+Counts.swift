extension TestResults {
    /// How many tests ended how; a test that was tried more than once counts once, by its last try.
    public struct Counts: Sendable, Equatable, Codable {
        public var passed = 0
        public var failed = 0
        public var errored = 0
        public var skipped = 0
        public var expectedFailure = 0

        /// Tests that passed at their last try after failing at an earlier one; they are among ``passed``.
        public var flaky = 0

        /// All tests, each once.
        public var total: Int { passed + failed + errored + skipped + expectedFailure }

        public init() {}
    }

    /// The counts of ``tests``: one pass over all of them.
    public var counts: Counts {
        var last: [String: (status: TestResult.Status, attempt: Int, failedBefore: Bool)] = [:]
        last.reserveCapacity(tests.count)
        for test in tests {
            guard let known = last[test.id] else {
                last[test.id] = (test.status, test.attempt, test.status.isFailure)
                continue
            }
            let failedBefore = known.failedBefore || test.status.isFailure
            last[test.id] =
                test.attempt >= known.attempt
                ? (test.status, test.attempt, failedBefore) : (known.status, known.attempt, failedBefore)
        }
        var counts = Counts()
        for (status, _, failedBefore) in last.values {
            switch status {
            case .passed:
                counts.passed += 1
                if failedBefore { counts.flaky += 1 }
            case .failed: counts.failed += 1
            case .errored: counts.errored += 1
            case .skipped: counts.skipped += 1
            case .expectedFailure: counts.expectedFailure += 1
            }
        }
        return counts
    }
}
