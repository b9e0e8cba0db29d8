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
        /// A program of your own: `Suite/name` of each test, one argument each.
        case names

        /// The arguments; empty where the tool can't be told any of them.
        package func arguments(for tests: [KnownTest]) -> [String] {
            switch self {
            case .swiftPM: tests.swiftTestArguments
            case .pytest: tests.pytestArguments
            case .nextest: tests.nextestArguments
            case .names:
                tests.map { $0.suite.isEmpty ? $0.name : "\($0.suite)/\($0.name)" }.filter { !$0.hasPrefix("-") }
            }
        }
    }

    public var filter: Filter
    /// Further tries at most.
    public var times: Int
    /// More failed tests than this are no accident, and are not tried again.
    public var maximum: Int

    public init(filter: Filter, times: Int = 1, maximum: Int = 10) {
        self.filter = filter
        self.times = times
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
    ///   - maximum: If more tests failed than this, none is tried again.
    public func retryFailedTests(_ filter: TestRetry.Filter, times: Int = 1, atMost maximum: Int = 10) -> Step {
        var copy = self
        copy.planned.testRetry = TestRetry(filter: filter, times: times, maximum: maximum)
        return copy
    }
}
