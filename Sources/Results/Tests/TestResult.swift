/// One try of one test, from any of the formats that pipectl reads.
///
/// All texts were written by the code under test. They may contain any Unicode scalar except NUL, so escape them before
/// you show them on a page or a terminal. ``TestResultLimits`` bounds their lengths.
public struct TestResult: Sendable, Equatable, Codable {
    /// How the try ended.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// The test ran, and its assertions held.
        case passed
        /// An assertion did not hold.
        case failed
        /// The test had no result: it threw, crashed, or its set-up, a hook or a step that nobody has written failed.
        case errored
        /// The test did not run, or not to its end: it is disabled, pending or to be done.
        case skipped
        /// The test failed as its author had declared (`withKnownIssue`, `XCTExpectFailure`, `xfail`).
        case expectedFailure

        /// Whether this status fails a test run.
        public var isFailure: Bool { self == .failed || self == .errored }
    }

    /// The class, suite or package, outermost first, joined as in the format.
    public var suite: String

    /// The test's own name, with its parameters if it has any.
    public var name: String

    /// How this try ended.
    public var status: Status

    /// Wall-clock seconds, zero or more; nil if the file has no readable time.
    public var duration: Double?

    /// The failure or the reason for a skip: the text to read first.
    public var message: String?

    /// Further text about a failure: stack trace, further issues, captured output. Nil for a test that passed.
    public var details: String?

    /// The source file that the failure points at, otherwise the one that declares the test. It is as written; never
    /// open it.
    public var file: String?

    /// The line in ``file``, from 1.
    public var line: Int?

    /// The number of the try of this test, from 1, in the order of the file.
    public var attempt: Int

    /// Identifies the test across runs. All tries of a test share it.
    public var id: String { suite.isEmpty ? name : suite + "/" + name }

    public init(
        suite: String,
        name: String,
        status: Status,
        duration: Double? = nil,
        message: String? = nil,
        details: String? = nil,
        file: String? = nil,
        line: Int? = nil,
        attempt: Int = 1
    ) {
        self.suite = suite
        self.name = name
        self.status = status
        self.duration = duration
        self.message = message
        self.details = details
        self.file = file
        self.line = line
        self.attempt = attempt
    }
}
