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
