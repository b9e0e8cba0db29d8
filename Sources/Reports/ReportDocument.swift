public import Results

/// A report with everything that is shown with it: the one place where every format is rendered.
///
/// Every text of a test, a log, a name or a path may have been written by the change. Each format makes it safe for
/// its own reader: a terminal, a forge's Markdown, a browser, an XML parser.
public struct ReportDocument: Sendable {
    public var report: Report
    /// Every try of every test, as the steps reported them.
    public var tests: [TestResult]
    /// The log of an attempt by the name in its ``LogRecord``; nil if it is no longer there. Asked once per log.
    public var logs: @Sendable (_ file: String) -> ReportLog?
    /// How tests came out in earlier runs, by their ids, where that is known: the page plots it.
    public var trends: [String: TestTrend] = [:]

    public init(
        report: Report, tests: [TestResult] = [],
        logs: @escaping @Sendable (_ file: String) -> ReportLog? = { _ in nil }
    ) {
        self.report = report
        self.tests = tests
        self.logs = logs
    }

    /// The report as `format`, ending with a line feed.
    public func render(_ format: ReportFormat, options: RenderOptions = RenderOptions()) -> String {
        switch format {
        case .text: TextReport(document: self, options: options).render()
        case .markdown: MarkdownReport(document: self, options: options).render()
        case .html: HTMLReport(document: self, options: options).render()
        case .json: renderJSON()
        case .junit: JUnitReport(document: self).render()
        }
    }
}

/// What an attempt printed.
public struct ReportLog: Sendable {
    /// As written, masked: any bytes.
    public var bytes: [UInt8]
    /// Milliseconds from the attempt's start until the byte at an offset of ``bytes`` came; nil where not known.
    public var milliseconds: @Sendable (_ offset: Int) -> Int?

    public init(bytes: [UInt8], milliseconds: @escaping @Sendable (_ offset: Int) -> Int? = { _ in nil }) {
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}

/// A form that a report can be read in.
public enum ReportFormat: String, Sendable, CaseIterable {
    /// For a terminal.
    case text
    /// For a forge's check or an agent: bounded.
    case markdown
    /// One self-contained page.
    case html
    /// Everything, for programs: see `docs/report.md`.
    case json
    /// The tests, for tools that read JUnit XML.
    case junit

    /// The format that the extension of a file's name asks for, of either case; nil where it asks for none that is known.
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

/// How a report is rendered.
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
public struct RenderOptions: Sendable, Equatable {
    /// Whether SGR colours are used. They are never the only sign of anything.
    public var colour: Bool
    public var width: Int
    /// Lines from the end of a failed step's log.
    public var logTailLines: Int
    /// Failing tests that are shown in full; the others are counted.
    public var failureLimit: Int
    /// GitHub refuses the text of a check beyond 65,535 characters.
    public var markdownLimit: Int
    /// What is shown of one log: its start and, four times as much, its end.
    public var logBytesPerAttempt: Int
    /// What is shown of all logs together; failed steps come first.
    public var logBytes: Int

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
