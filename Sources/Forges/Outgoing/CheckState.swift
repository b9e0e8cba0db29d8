public import Foundation
public import Results

/// What a forge is to show for one workflow at one commit: its newest state, complete in itself.
public struct CheckState: Sendable, Equatable, Codable {
    /// How far the run is.
    public enum Phase: String, Sendable, Codable {
        case queued, running, ended
    }

    /// A place in a file, shown beside its line.
    public struct Annotation: Sendable, Equatable, Codable {
        public var path: String
        /// From 1.
        public var line: Int
        public var severity: Finding.Severity
        public var title: String
        public var message: String

        public init(path: String, line: Int, severity: Finding.Severity, title: String, message: String) {
            self.path = path
            self.line = line
            self.severity = severity
            self.title = title
            self.message = message
        }
    }

    public var workflow: String
    /// The commit that the forge shows it at.
    public var commit: String
    /// The newest run of this workflow at this commit.
    public var run: RunID
    public var phase: Phase
    /// Of an ended run.
    public var verdict: Verdict?
    /// One sentence without markup.
    public var title: String
    /// Markdown; text of the change in it can't act as markup.
    public var summary: String
    public var annotations: [Annotation]
    public var startedAt: Date?
    public var endedAt: Date?
    /// A page about the run; nil where there is none.
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

    /// What the forge calls it, and what a rule that requires it names: `pipectl/test`.
    public var name: String { "pipectl/\(workflow)" }
}

/// What the comment of a change is to say.
public struct CommentState: Sendable, Equatable, Codable {
    /// The change's number.
    public var change: Int
    /// Markdown.
    public var body: String
    /// Whether it is worth a comment of its own; otherwise it only takes the place of an earlier one.
    public var isNews: Bool

    public init(change: Int, body: String, isNews: Bool) {
        self.change = change
        self.body = body
        self.isNews = isNews
    }
}
