public import Results

/// A report with everything that is shown with it. ``render(_:options:)`` renders it in a format.
///
/// The change may have written any text of a test, a log, a name or a path. Each format makes it safe for its reader: a
/// terminal, a forge's Markdown, a browser, an XML parser.
public struct ReportDocument: Sendable {
    /// The report itself.
    public var report: Report
    /// Every try of every test, as the steps reported them.
    public var tests: [TestResult]
    /// Returns an attempt's log by the name in its ``LogRecord``; nil if it no longer exists. Called once for each log.
    public var logs: @Sendable (_ file: String) -> ReportLog?
    /// The results of tests in earlier runs, by test id, if known. The page plots them.
    public var trends: [String: TestTrend] = [:]

    public init(
        report: Report, tests: [TestResult] = [],
        logs: @escaping @Sendable (_ file: String) -> ReportLog? = { _ in nil }
    ) {
        self.report = report
        self.tests = tests
        self.logs = logs
    }
}

/// The output of an attempt.
public struct ReportLog: Sendable {
    /// Masked, but otherwise as the step wrote it: any bytes.
    public var bytes: [UInt8]
    /// The milliseconds from the attempt's start until the byte at an offset of ``bytes`` came; nil if unknown.
    public var milliseconds: @Sendable (_ offset: Int) -> Int?

    public init(bytes: [UInt8], milliseconds: @escaping @Sendable (_ offset: Int) -> Int? = { _ in nil }) {
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}

/// A format of reports.
public enum ReportFormat: String, Sendable, CaseIterable {
    /// For a terminal.
    case text
    /// For a forge's check or an agent. Its size is limited.
    case markdown
    /// One self-contained page.
    case html
    /// The complete report, for programs: see `docs/report.md`.
    case json
    /// The tests, for tools that read JUnit XML.
    case junit

    /// The format for the extension of a file name, in upper or lower case; nil for other extensions.
    public init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
        case "txt", "text": self = .text
        case "md", "markdown": self = .markdown
        case "html", "htm": self = .html
        case "json": self = .json
        case "xml": self = .junit
        default: return nil
        }
    }
}

/// Options for rendering a report.
///
/// | Option | Unit | Default | Formats |
/// | --- | --- | --- | --- |
/// | `colour` | | off | text |
/// | `width` | columns | 100, at least 40 | text |
/// | `logTailLines` | lines | 30 | text, markdown |
/// | `failureLimit` | tests | 50 | text |
/// | `markdownLimit` | bytes of UTF-8 | 65,000 | markdown |
/// | `logBytesPerAttempt` | bytes | 512 KiB | html |
/// | `logBytes` | bytes | 8 MiB | html |
/// | `testLimit` | tests | all | html |
/// | `stepLimit` | steps | all | html |
public struct RenderOptions: Sendable, Equatable {
    /// Whether SGR colours are used. Nothing is shown by colour alone.
    public var colour: Bool
    /// Columns; at least 40.
    public var width: Int
    /// The number of lines that are shown from the end of a failed step's log.
    public var logTailLines: Int
    /// The number of failing tests that are shown in full. The others are counted.
    public var failureLimit: Int
    /// The most bytes of a Markdown report. GitHub refuses check texts of more than 65,535 characters.
    public var markdownLimit: Int
    /// The most bytes that are shown of one log: its start and, four times as much, its end.
    public var logBytesPerAttempt: Int
    /// The most bytes that are shown of all logs together. Logs of failed steps take precedence.
    public var logBytes: Int
    /// The most tests of the list of all tests, those of suites with failures first.
    public var testLimit = Int.max
    /// The most steps of the timeline and of the list of logs.
    public var stepLimit = Int.max

    public init(
        colour: Bool = false, width: Int = 100, logTailLines: Int = 30, failureLimit: Int = 50,
        markdownLimit: Int = 65_000, logBytesPerAttempt: Int = 512 << 10, logBytes: Int = 8 << 20
    ) {
        self.colour = colour
        self.width = max(width, 40)
        self.logTailLines = max(logTailLines, 0)
        self.failureLimit = max(failureLimit, 1)
        self.markdownLimit = max(markdownLimit, 2_000)
        self.logBytesPerAttempt = max(logBytesPerAttempt, 1 << 10)
        self.logBytes = max(logBytes, 0)
    }
}
