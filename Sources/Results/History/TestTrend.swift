/// The results of a test in its newest runs, oldest first, for a small plot.
public struct TestTrend: Sendable, Equatable, Codable {
    /// The result of one run.
    public struct Point: Sendable, Equatable, Codable {
        /// The run's number.
        public var run: RunID
        /// The test's last try in the run.
        public var status: TestResult.Status
        /// Whether an earlier try in the same run failed.
        public var isFlaky: Bool
        /// Seconds of wall-clock time.
        public var duration: Double?

        public init(run: RunID, status: TestResult.Status, isFlaky: Bool = false, duration: Double? = nil) {
            self.run = run
            self.status = status
            self.isFlaky = isFlaky
            self.duration = duration
        }
    }

    /// The suite's name; may be empty.
    public var suite: String
    /// The test's name in its suite.
    public var name: String
    /// Oldest first.
    public var points: [Point]

    /// Identifies the test across runs.
    public var id: String { suite.isEmpty ? name : suite + "/" + name }

    public init(suite: String, name: String, points: [Point]) {
        self.suite = suite
        self.name = name
        self.points = points
    }

    /// One result of the test in one run.
    package struct Try {
        var run: RunID
        var status: TestResult.Status
        var attempt: Int
        var duration: Double?

        package init(
            run: RunID, status: TestResult.Status, attempt: Int, duration: Double? = nil
        ) {
            self.run = run
            self.status = status
            self.attempt = attempt
            self.duration = duration
        }
    }

    /// Makes one point for each run from the results of a test, which are sorted newest first.
    public init(suite: String, name: String, _ appearances: [TestAppearance]) {
        self.init(
            suite: suite, name: name,
            newestFirst: appearances.map {
                Try(run: $0.run, status: $0.result.status, attempt: $0.result.attempt, duration: $0.result.duration)
            })
    }

    package init(suite: String, name: String, newestFirst all: [Try]) {
        var points: [Point] = []
        var tries: [Try] = []
        for (index, one) in all.enumerated().reversed() {
            tries.append(one)
            if index > 0, all[index - 1].run == one.run { continue }
            let last = tries.max { $0.attempt < $1.attempt } ?? one
            points.append(
                Point(
                    run: one.run, status: last.status,
                    isFlaky: last.status == .passed && tries.contains(where: \.status.isFailure),
                    duration: last.duration))
            tries = []
        }
        self.init(suite: suite, name: name, points: points)
    }

    /// The median duration in seconds. A single slow run does not change it much.
    public var medianSeconds: Double? { Self.median(points.compactMap(\.duration)) }

    /// The median; of an even number of values the mean of the middle two. Nil if there is no value.
    package static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// A test with its share of the test time.
public struct SlowTest: Sendable, Equatable, Codable {
    /// The test, with its newest results.
    public var trend: TestTrend
    /// Seconds of wall-clock time.
    public var median: Double
    /// The longest time, in seconds.
    public var worst: Double
    /// The test's part, from 0 to 1, of the time of all tests in these runs.
    public var share: Double

    public init(trend: TestTrend, median: Double, worst: Double, share: Double) {
        self.trend = trend
        self.median = median
        self.worst = worst
        self.share = share
    }
}
