extension TestResults {
    /// The numbers of tests by result. A test with several tries counts once, by its last try.
    public struct Counts: Sendable, Equatable, Codable {
        /// Tests whose assertions held in their last try.
        public var passed = 0
        /// Tests with a failed assertion in their last try.
        public var failed = 0
        /// Tests that threw, crashed or could not be set up in their last try.
        public var errored = 0
        /// Tests that did not run.
        public var skipped = 0
        /// Tests that failed as their author had declared.
        public var expectedFailure = 0

        /// Tests that passed in their last try after an earlier one failed. They are included in ``passed``.
        public var flaky = 0

        /// The number of tests.
        public var total: Int { passed + failed + errored + skipped + expectedFailure }

        public init() {}
    }

    /// The counts of ``tests``, in one pass.
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
