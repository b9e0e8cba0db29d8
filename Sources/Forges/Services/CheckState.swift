public import Foundation
public import Results

/// What a forge shows for one workflow at one commit. It is the complete newest state.
public struct CheckState: Sendable, Equatable, Codable {
    /// The state of the run.
    public enum Phase: String, Sendable, Codable {
        case queued, running, ended
    }

    /// A message that is shown beside a line of a file.
    public struct Annotation: Sendable, Equatable, Codable {
        /// Relative to the top of the repository.
        public var path: String
        /// From 1.
        public var line: Int
        /// How severe it is.
        public var severity: Finding.Severity
        /// One line of plain text.
        public var title: String
        /// Plain text.
        public var message: String

        public init(path: String, line: Int, severity: Finding.Severity, title: String, message: String) {
            self.path = path
            self.line = line
            self.severity = severity
            self.title = title
            self.message = message
        }
    }

    /// A button at a check. The raw value is what the forge sends back when somebody presses it.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Runs the workflow once more.
        case rerun
        /// Runs the failed steps once more.
        case rerunFailed = "rerun-failed"
        /// Approves what the run waits for.
        case approve
    }

    /// The workflow's name.
    public var workflow: String
    /// The full id of the commit at which it is shown.
    public var commit: String
    /// The newest run of this workflow at this commit.
    public var run: RunID
    /// How far the run is.
    public var phase: Phase
    /// The verdict of an ended run; nil for others.
    public var verdict: Verdict?
    /// One sentence without markup.
    public var title: String
    /// Markdown. Text of the change in it is escaped.
    public var summary: String
    /// Messages beside lines of files.
    public var annotations: [Annotation]
    /// Buttons, for forges that have them.
    public var actions: [Action] = []
    /// When the run started; nil if it has not.
    public var startedAt: Date?
    /// When the run ended; nil if it has not.
    public var endedAt: Date?
    /// A page about the run; nil if there is none.
    public var link: String?

    public init(
        workflow: String, commit: String, run: RunID, phase: Phase, verdict: Verdict? = nil, title: String,
        summary: String = "", annotations: [Annotation] = [], startedAt: Date? = nil, endedAt: Date? = nil,
        link: String? = nil
    ) {
        self.workflow = workflow
        self.commit = commit
        self.run = run
        self.phase = phase
        self.verdict = verdict
        self.title = title
        self.summary = summary
        self.annotations = annotations
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.link = link
    }

    /// The name of the check, which branch rules refer to: `pipectl/test`.
    public var name: String { "pipectl/\(workflow)" }
}

/// What the comment on a change says.
public struct CommentState: Sendable, Equatable, Codable {
    /// The change's number.
    public var change: Int
    /// Markdown.
    public var body: String
    /// Whether it is worth a new comment. Otherwise it only replaces the text of an earlier one.
    public var isNews: Bool
    /// The circumstances that it tells, in a form that can be compared; nil if there are none.
    var about: String?

    public init(change: Int, body: String, isNews: Bool) {
        self.change = change
        self.body = body
        self.isNews = isNews
    }
}
