/// How failed tests, and only those, are retried: in the same workspace, with the filters of the tool that runs them.
public struct TestRetry: Sendable, Equatable, Codable {
    /// How a tool is told which tests to run.
    public enum Filter: String, Sendable, Codable {
        /// `swift test`: `--filter EXPRESSION`.
        case swiftPM
        /// pytest: node ids.
        case pytest
        /// cargo-nextest: `--filterset EXPRESSION`.
        case nextest
        /// CTest: `-R EXPRESSION`.
        case ctest
        /// A program of your own, which gets `Suite/name` of each test as one argument.
        case names

        /// The arguments; empty if the tool can select none of the tests.
        package func arguments(for tests: [KnownTest]) -> [String] {
            switch self {
            case .swiftPM: tests.swiftTestArguments
            case .pytest: tests.pytestArguments
            case .nextest: tests.nextestArguments
            case .ctest: tests.ctestArguments
            case .names: tests.map(\.id).filter { !$0.hasPrefix("-") }
            }
        }
    }

    /// How the tool is told which tests to run.
    public var filter: Filter
    /// The most further tries of a test.
    public var times: Int
    /// The most further tries of a test that is known to be flaky; nil: the same as ``times``.
    public var timesKnown: Int?
    /// If more tests than this failed, none is retried: that many failures have a common cause.
    public var maximum: Int

    /// The settings of ``Step/retryFailedTests(_:times:knownFlaky:atMost:)``.
    public init(filter: Filter, times: Int = 1, timesKnown: Int? = nil, maximum: Int = 10) {
        self.filter = filter
        self.times = times
        self.timesKnown = timesKnown
        self.maximum = maximum
    }
}

extension Step {
    /// Retries failed tests alone, on the same tree in the same workspace. A test that passes then is flaky, and the
    /// run's verdict says so; a test that fails again has failed.
    ///
    /// The filter's arguments follow the step's command. A shell line gets them as `"$@"`: at its end, or where the
    /// line contains `"$@"`. The step needs ``testResults(_:)``. A step that was killed, timed out or left no results
    /// is not retried.
    ///
    /// - Parameters:
    ///   - filter: How the tool is told which tests to run.
    ///   - times: The most further tries of a test.
    ///   - knownFlaky: The most further tries when all tests that still fail are known to be flaky, which means that in
    ///     the last 200 runs each of them failed and passed on the same tree.
    ///   - maximum: If more tests than this failed, none is retried.
    public func retryFailedTests(
        _ filter: TestRetry.Filter, times: Int = 1, knownFlaky: Int = 3, atMost maximum: Int = 10
    ) -> Step {
        var copy = self
        copy.planned.testRetry = TestRetry(
            filter: filter, times: times, timesKnown: max(times, knownFlaky), maximum: maximum)
        return copy
    }
}
