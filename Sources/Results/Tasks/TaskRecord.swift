public import Foundation
public import Pipeline

/// Work that was handed to an agent, from its first word to the version that has it.
public struct TaskRecord: Sendable, Equatable, Codable, Identifiable {
    public var id: TaskID
    /// The watched repository's name.
    public var repository: String
    /// The branch that its change is for.
    public var branch: String
    /// One line.
    public var title: String
    /// What is to be done, as the person or the report says it. Untrusted unless ``source`` is a person.
    public var text: String
    public var source: TaskSource
    /// Who asked for it, in words: `ada`, `@ada at GitHub`; nil where nobody did.
    public var reporter: String?
    /// Makes a second request for the same work find this task; unique in the repository.
    public var key: String
    public var createdAt: Date
    /// The target's commit whose files the agent is shown first.
    public var commit: String
    /// The crash that it is about.
    public var crash: TaskCrash?
    /// The names of the files that were handed over; they are artifacts by digest.
    public var files: [ReleaseRecord.File]
    public var state: TaskState
    /// Why it is in this state, in one sentence.
    public var reason: String
    /// The change that was opened for it, by the name that the change has.
    public var change: String?
    /// The change's number at the forge and its page.
    public var changeLink: String?
    /// The commit by which the change landed, and the first release that has it.
    public var landedCommit: String?
    public var release: String?
    /// What the agents have used.
    public var spent: TaskSpending
    /// The declaration that it is done by, as the target had it when the task was made.
    public var rules: TasksDeclaration

    public init(
        id: TaskID, repository: String, branch: String, title: String, text: String, source: TaskSource,
        reporter: String?, key: String, createdAt: Date, commit: String, rules: TasksDeclaration
    ) {
        self.id = id
        self.repository = repository
        self.branch = branch
        self.title = title
        self.text = text
        self.source = source
        self.reporter = reporter
        self.key = key
        self.createdAt = createdAt
        self.commit = commit
        self.rules = rules
        files = []
        state = .planning
        reason = ""
        spent = TaskSpending()
        reopened = 0
    }

    /// How often the task was taken up again after its change had landed.
    public var reopened: Int

    /// The branch of its change in the watched repository. A task that was reopened has another one, since the first has
    /// landed.
    public var changeBranch: String {
        reopened == 0 ? "\(Self.branchPrefix)\(id)" : "\(Self.branchPrefix)\(id)-\(reopened + 1)"
    }

    /// What the names of the branches of tasks begin with; the task's number follows.
    public static let branchPrefix = "pipectl/task-"

    /// Whether a test must be shown that fails on the target and passes with the change.
    public var needsReproduction: Bool {
        switch rules.reproduction {
        case .always: true
        case .never: false
        case .crashes: crash != nil || source.isFailure
        }
    }
}

/// Where a task comes from.
public enum TaskSource: Sendable, Equatable, Codable {
    /// A person asked for it, in the terminal, on a page, or by the API.
    case person
    /// An issue at the forge.
    case issue(number: Int)
    /// A crash report that a person or a service handed over.
    case crash(signature: String)
    /// A crash or feedback of TestFlight, with its identifier there.
    case testFlight(id: String)
    /// A scheduled run that failed.
    case scheduledRun(RunID)
    /// A test that turned red on the target, and the run that says so.
    case redTest(String, run: RunID)

    /// Whether something failed that can be repeated.
    public var isFailure: Bool {
        switch self {
        case .crash, .testFlight, .scheduledRun, .redTest: true
        case .person, .issue: false
        }
    }

    /// Whether tests of the target fail that the task is to mend.
    package var hasRedTests: Bool {
        switch self {
        case .scheduledRun, .redTest: true
        case .person, .issue, .crash, .testFlight: false
        }
    }
}

/// How far a task is. A raw value, because later versions may add more.
public struct TaskState: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An agent makes a plan.
    public static let planning = TaskState(rawValue: "planning")
    /// A person is to approve the plan, or to answer it.
    public static let planWaits = TaskState(rawValue: "planWaits")
    /// Agents work.
    public static let working = TaskState(rawValue: "working")
    /// What an agent made is tested and reviewed.
    public static let checking = TaskState(rawValue: "checking")
    /// The change is open, and a person is to decide.
    public static let ready = TaskState(rawValue: "ready")
    /// The change is in the merge queue.
    public static let landing = TaskState(rawValue: "landing")
    /// The change is part of its target.
    public static let landed = TaskState(rawValue: "landed")
    /// A release has it.
    public static let released = TaskState(rawValue: "released")
    /// That release reached its users.
    public static let delivered = TaskState(rawValue: "delivered")
    /// A person refused the plan or the change.
    public static let refused = TaskState(rawValue: "refused")
    public static let cancelled = TaskState(rawValue: "cancelled")
    /// No try came to its end within the budget.
    public static let givenUp = TaskState(rawValue: "givenUp")
    /// There was nothing to do: a newer release has what was asked for.
    public static let answered = TaskState(rawValue: "answered")

    /// Those in which nothing more follows by itself.
    public static let ends: [TaskState] = [.delivered, .refused, .cancelled, .givenUp, .answered]

    /// Every state, in the order in which a task may have them.
    public static let all: [TaskState] = [
        .planning, .planWaits, .working, .checking, .ready, .landing, .landed, .released, .delivered, .refused,
        .cancelled, .givenUp, .answered,
    ]

    /// Those that are no end.
    public static let open = Set(all).subtracting(ends)

    /// Whether nothing more follows by itself.
    public var isEnded: Bool { Self.ends.contains(self) }

    /// Whether it waits for a person.
    public var waitsForPerson: Bool { self == .planWaits || self == .ready }

    /// The words for people.
    public var title: String {
        switch self {
        case .planWaits: "plan waits for approval"
        case .ready: "ready to land"
        case .givenUp: "given up"
        default: rawValue
        }
    }
}

/// The crash that a task is about.
public struct TaskCrash: Sendable, Equatable, Codable {
    /// What equal crashes have in common, as lower-case hex.
    public var signature: String
    /// `EXC_BAD_ACCESS in Cart.total()`.
    public var title: String
    /// The version that crashed, if the report names it and pipectl made it.
    public var release: String?
    public var commit: String?
    /// How many reports with this signature came.
    public var count: Int
    /// Frames of the program, the top one first, at most 20.
    public var frames: [Frame]

    /// One call of the program's own code.
    public struct Frame: Sendable, Equatable, Codable {
        public var function: String
        /// Below the root of the repository; nil if it is not known.
        public var file: String?
        public var line: Int?

        public init(function: String, file: String? = nil, line: Int? = nil) {
            self.function = function
            self.file = file
            self.line = line
        }
    }

    public init(
        signature: String, title: String, release: String? = nil, commit: String? = nil, count: Int = 1,
        frames: [Frame] = []
    ) {
        self.signature = signature
        self.title = title
        self.release = release
        self.commit = commit
        self.count = count
        self.frames = frames
    }
}

/// What the agents of a task have used.
public struct TaskSpending: Sendable, Equatable, Codable {
    /// Wall-clock seconds of agents.
    public var seconds: Double = 0
    /// Of input and output together, where the agents tell it.
    public var tokens: Int?
    /// US dollars, where the agents tell it.
    public var cost: Double?

    public init() {}
}
