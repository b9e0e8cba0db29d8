/// One try of one test, as any of the formats we read describes it.
///
/// Every text here was written by the code under test: it may hold any Unicode scalar except NUL, so whoever shows it
/// on a page or a terminal escapes it. Lengths are bounded by ``TestResultLimits``.
public struct TestResult: Sendable, Equatable, Codable {
    /// How the try ended.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// The test ran and held.
        case passed
        /// An assertion did not hold.
        case failed
        /// The test could not say: it threw, crashed, or its set-up broke.
        case errored
        /// The test did not run.
        case skipped
        /// The test failed, and its author had said it would (`withKnownIssue`, `XCTExpectFailure`, `xfail`).
        case expectedFailure

        /// Whether this status alone makes a test run fail.
        public var isFailure: Bool { self == .failed || self == .errored }
    }

    /// What the test belongs to: the class, suite or package, outermost first, as the format joins it.
    public var suite: String

    /// The test's own name, with its parameters where it has any.
    public var name: String

    /// How this try ended.
    public var status: Status

    /// Wall-clock seconds, zero or more; `nil` where the file gives no time that can be read.
    public var duration: Double?

    /// The failure or the reason for a skip, as its author would read it first.
    public var message: String?

    /// The long story of a failure: stack trace, further issues, captured output. `nil` for a test that passed.
    public var details: String?

    /// The source file the failure points at, else the one that declares the test: as written, never resolved or opened.
    public var file: String?

    /// The line in ``file``, from 1.
    public var line: Int?

    /// Which try of this test it is, from 1, in the order of the file.
    public var attempt: Int

    /// What names the test across runs; tries of one test share it.
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
