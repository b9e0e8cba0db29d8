/// What earlier runs tell about tests, so that a workflow can run first what is likely to fail.
///
/// Tests are known by what result files say of them (`Step.testResults(_:)`), and only tests whose file is still there
/// are named. Of a workflow's first run nothing is known: all lists are empty.
public struct TestHistory: Sendable, Equatable, Codable {
    /// The longest that each list gets.
    public static let limit = 200

    /// Tests that failed in earlier runs of this change, newest first; empty for a run of no change.
    public var failedBefore: [KnownTest]
    /// Tests that lie near the changed files: in a file that was changed itself, in `FooTests.swift` or `test_foo.py`
    /// for `Foo.swift` or `foo.py`, in the same folder, or in `GitTests/` for `Git/`; the nearest first.
    public var near: [KnownTest]
    /// All of these, and tests that failed in any of the workflow's last 50 runs by their chance to fail per second.
    public var ranked: [KnownTest]

    public init(failedBefore: [KnownTest] = [], near: [KnownTest] = [], ranked: [KnownTest] = []) {
        self.failedBefore = failedBefore
        self.near = near
        self.ranked = ranked
    }
}

/// A test of an earlier run.
///
/// Every text in it was written by code under test, be it by a change that nobody has read: it goes into an argument
/// vector (``Swift/Array/swiftTestArguments`` and its like), never into a line for the shell.
public struct KnownTest: Sendable, Hashable, Codable {
    /// What the test belongs to, as result files join it: `PipelineTests.GlobTests`, `tests.test_types.TestPath`.
    public var suite: String
    /// The test's own name, with its parameters where it has any. Empty: all tests of the suite, or of the file, which
    /// was changed and may have new ones.
    public var name: String
    /// Relative to the repository, where result files name it.
    public var file: String?
    /// How long it took, in seconds of wall-clock time, where that is known.
    public var seconds: Double?

    /// As reports name it: `Suite/name`.
    package var id: String { suite.isEmpty ? name : "\(suite)/\(name)" }

    public init(suite: String, name: String, file: String? = nil, seconds: Double? = nil) {
        self.suite = suite
        self.name = name
        self.file = file
        self.seconds = seconds
    }
}
