/// What earlier runs say about tests, so that a workflow can run first the tests that are most likely to fail.
///
/// The names come from result files (`Step.testResults(_:)`). Only tests whose file still exists are listed. In a
/// workflow's first run all lists are empty.
public struct TestHistory: Sendable, Equatable, Codable {
    /// The largest number of tests in each list.
    public static let limit = 200

    /// Tests that failed in earlier runs of this change, newest first; empty for a run that tests no change.
    public var failedBefore: [KnownTest]
    /// Tests near the changed files, the nearest first: in a changed file itself, in `FooTests.swift` or `test_foo.py`
    /// for `Foo.swift` or `foo.py`, in the same folder, or in `GitTests/` for `Git/`.
    public var near: [KnownTest]
    /// Both lists above, then tests that failed in the workflow's last 50 runs, by their chance to fail per second of
    /// time.
    public var ranked: [KnownTest]

    /// The history with these lists; without arguments that of a workflow's first run.
    public init(failedBefore: [KnownTest] = [], near: [KnownTest] = [], ranked: [KnownTest] = []) {
        self.failedBefore = failedBefore
        self.near = near
        self.ranked = ranked
    }
}

/// A test of an earlier run.
///
/// Every text in it was written by the code under test, which may be a change that nobody has reviewed. Pass it in an
/// argument vector (``Swift/Array/swiftTestArguments`` and the like), never in a shell line.
public struct KnownTest: Sendable, Hashable, Codable {
    /// The suite's name, joined as in the result file: `PipelineTests.GlobTests`, `tests.test_types.TestPath`.
    public var suite: String
    /// The test's own name, with its parameters if it has any. An empty name stands for all tests of the suite, or of a
    /// changed file, which may contain new tests.
    public var name: String
    /// The test's file, relative to the repository, if the results name it.
    public var file: String?
    /// Wall-clock seconds that the test took, if known.
    public var seconds: Double?

    /// The name in reports: `Suite/name`.
    package var id: String { suite.isEmpty ? name : "\(suite)/\(name)" }

    /// A test. `seconds` is wall-clock time.
    public init(suite: String, name: String, file: String? = nil, seconds: Double? = nil) {
        self.suite = suite
        self.name = name
        self.file = file
        self.seconds = seconds
    }
}
