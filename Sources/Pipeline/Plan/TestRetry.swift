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
