public import Foundation

/// A request for a task, as people and sources make it.
public struct TaskDraft: Sendable, Equatable, Codable {
    /// The repository's name, path or URL; nil: the only one.
    public var repository: String?
    /// One line; nil: made of the text or the crash report.
    public var title: String?
    /// What is to be done.
    public var text: String
    public var source: TaskSource
    /// Who asks, in words; nil: the caller.
    public var reporter: String?
    /// What makes a second request for the same work find the first, such as `issue 12`. Nil: it is new work.
    public var key: String?
    /// A crash report.
    public var crash: Data?
    /// The version that the program said of itself, where the report does not.
    public var version: String?
    /// Files for the agent to read.
    public var files: [File]
    /// The number of an issue at the forge that says what is to be done.
    public var issue: Int?

    /// A file that is handed over.
    public struct File: Sendable, Equatable, Codable {
        /// Without folders.
        public var name: String
        public var content: Data

        public init(name: String, content: Data) {
            self.name = name
            self.content = content
        }
    }

    /// The most bytes of a title and a text.
    public static let longestTitle = 200
    public static let longestText = 64 << 10
    /// The most bytes of a crash report, of all files together, and the most files.
    public static let largestCrash = 4 << 20
    public static let largestFiles = 8 << 20
    public static let mostFiles = 16

    public init(
        repository: String? = nil, title: String? = nil, text: String, source: TaskSource = .person,
        reporter: String? = nil, key: String? = nil, crash: Data? = nil, version: String? = nil, files: [File] = [],
        issue: Int? = nil
    ) {
        self.repository = repository
        self.title = title
        self.text = text
        self.source = source
        self.reporter = reporter
        self.key = key
        self.crash = crash
        self.version = version
        self.files = files
        self.issue = issue
    }
}

/// Which tasks are wanted, newest first.
public struct TaskFilter: Sendable, Equatable, Codable {
    /// The repository's name.
    public var repository: String?
    /// Nil: in any state.
    public var states: Set<TaskState>?
    /// Only those with a smaller number.
    public var before: TaskID?
    public var limit: Int

    public init(
        repository: String? = nil, states: Set<TaskState>? = nil, before: TaskID? = nil, limit: Int = 100
    ) {
        self.repository = repository
        self.states = states
        self.before = before
        self.limit = limit
    }
}
