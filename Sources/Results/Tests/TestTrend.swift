/// How a test came out in its newest runs, oldest first: what a small plot is drawn from.
public struct TestTrend: Sendable, Equatable, Codable {
    public struct Point: Sendable, Equatable, Codable {
        public var run: RunID
        public var status: TestResult.Status
        /// Whether an earlier try of the same run had failed.
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

    public var suite: String
    public var name: String
    public var points: [Point]

    /// What names the test across runs.
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

    /// Of the appearances of a test, newest first, one point for each run.
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

    /// The middle duration, which one slow run does not move, in seconds.
    public var medianSeconds: Double? { Self.median(points.compactMap(\.duration)) }

    package static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// A test by what it costs.
public struct SlowTest: Sendable, Equatable, Codable {
    public var trend: TestTrend
    /// Seconds of wall-clock time.
    public var median: Double
    public var worst: Double
    /// Its part, from 0 to 1, of what all tests took in these runs.
    public var share: Double

    public init(trend: TestTrend, median: Double, worst: Double, share: Double) {
        self.trend = trend
        self.median = median
        self.worst = worst
        self.share = share
    }
}
