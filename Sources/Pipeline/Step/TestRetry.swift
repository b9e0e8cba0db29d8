/// Trying the tests again that failed, and only those: in the same workspace, by the filters of the tool that runs them.
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
        /// A program of your own: `Suite/name` of each test, one argument each.
        case names

        /// The arguments; empty where the tool can't be told any of them.
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

    public var filter: Filter
    /// Further tries at most.
    public var times: Int
    /// Further tries at most of tests that were seen to fail and pass on one tree before; nil for as many as of others.
    public var timesKnown: Int?
    /// More failed tests than this are no accident, and are not tried again.
    public var maximum: Int

    public init(filter: Filter, times: Int = 1, timesKnown: Int? = nil, maximum: Int = 10) {
        self.filter = filter
        self.times = times
        self.timesKnown = timesKnown
        self.maximum = maximum
    }
}

extension Step {
    /// Tries failed tests again, alone, on the same tree in the same workspace: one that passes then is flaky, and the run
    /// says so; one that fails again has failed.
    ///
    /// The filter's arguments come after the step's command; a shell line gets them as `"$@"`, at its end or where it says
    /// so itself. Needs ``testResults(_:)``. A step that was killed, timed out or left no results is not tried again.
    ///
    /// - Parameters:
    ///   - times: Further tries of a test at most.
    ///   - knownFlaky: The same where all that fail still are known to be flaky: in one of the last 200 runs each of them
    ///     failed and passed on the same tree. Then another failure says little, and one more try a lot.
    ///   - maximum: If more tests failed than this, none is tried again.
    public func retryFailedTests(
        _ filter: TestRetry.Filter, times: Int = 1, knownFlaky: Int = 3, atMost maximum: Int = 10
    ) -> Step {
        var copy = self
        copy.planned.testRetry = TestRetry(
            filter: filter, times: times, timesKnown: max(times, knownFlaky), maximum: maximum)
        return copy
    }
}
