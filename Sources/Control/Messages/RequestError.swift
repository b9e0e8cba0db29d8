/// Why a request can't be carried out.
public struct RequestError: Error, Sendable, CustomStringConvertible {
    /// What kind of reason it is: a word that stays the same from one version to the next.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No repository has this name.
        public static let unknownRepository = Code(rawValue: "unknown-repository")
        /// No run has this number.
        public static let unknownRun = Code(rawValue: "unknown-run")
        /// The name matches several runs.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// No test has this name, or several do.
        public static let unknownTest = Code(rawValue: "unknown-test")
        /// The repository has no such change.
        public static let unknownChange = Code(rawValue: "unknown-change")
        /// The repository has no release of this version.
        public static let unknownRelease = Code(rawValue: "unknown-release")
        /// No task has this number.
        public static let unknownTask = Code(rawValue: "unknown-task")
        /// The target of the repository declares no tasks.
        public static let noTasks = Code(rawValue: "no-tasks")
        /// The task is in a state in which this can't be done.
        public static let wrongTaskState = Code(rawValue: "wrong-task-state")
        /// Several changes have this name.
        public static let ambiguousChange = Code(rawValue: "ambiguous-change")
        /// An agent asked for a run that only a person may start.
        public static let needsPerson = Code(rawValue: "needs-person")
        /// It is not known into which branch changes of the repository merge.
        public static let unknownTarget = Code(rawValue: "unknown-target")
        /// The repository has no workflow with this name.
        public static let unknownWorkflow = Code(rawValue: "unknown-workflow")
        /// The commit or folder has no `workflows/`.
        public static let noWorkflows = Code(rawValue: "no-workflows")
        /// The request makes no sense, or is too early or too late.
        public static let usage = Code(rawValue: "usage")
        /// The change can't be put into a merge queue: it has landed, is closed, was pushed to, or its target declares no
        /// landing.
        public static let notLandable = Code(rawValue: "not-landable")
        /// The change is not in the merge queue, or lands already.
        public static let notQueued = Code(rawValue: "not-queued")
        /// There is no such token for the pages, or there is one with this name already.
        public static let badToken = Code(rawValue: "bad-token")
        /// No pages are shown, so nobody can log in to them.
        public static let noPages = Code(rawValue: "no-pages")
        /// The machine lacks a program.
        public static let missingTool = Code(rawValue: "missing-tool")
        /// A notification could not be delivered.
        public static let notify = Code(rawValue: "notify")
        /// A remote could not be read.
        public static let fetch = Code(rawValue: "fetch")
    }

    /// Where the cause lies.
    public enum Origin: String, Sendable, Codable {
        /// In the request or in the definition: the caller can correct it.
        case request
        /// In the machine or the state of the daemon: a full disk, a damaged index.
        case daemon = "box"
    }

    /// What is wrong, to switch on.
    public let code: Code
    /// What is wrong and what to do next.
    public let description: String
    /// Whether the request or the daemon is to blame.
    public let origin: Origin

    public init(_ code: Code, _ description: String, origin: Origin = .request) {
        self.code = code
        self.description = description
        self.origin = origin
    }
}
