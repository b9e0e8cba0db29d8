public import Pipeline

/// The kind of a run, with the facts that only runs of this kind have.
public enum RunKind: Sendable, Equatable {
    /// A ref that moved or a schedule started it; ``RunRequest/event`` says which.
    case triggered
    /// Somebody asked for it.
    case manual
    /// Somebody asked to repeat an earlier run.
    case rerun(Rerun)
    /// Makes the snapshot that runs of changes start from. `isMissed`: queued ones have none until it has ended.
    case warmUp(isMissed: Bool)
    /// Builds merged code from nothing, to see that the verdict is the same as in a warm workspace.
    ///
    /// `of` is the run of the same tree that it is compared with, nil where that one started from nothing, too;
    /// `hasFailed` says that it did not pass.
    case cleanBuild(of: RunID?, hasFailed: Bool)
    /// Tells whether a test passed at an earlier commit.
    case bisect
    /// Runs tests again that failed on the branch, to see whether they pass on the same tree; the number counts from 1.
    case flakeProbe(Int)
    /// Lets a fixer work on a run that failed, or checks what it made.
    case fix(FixRole)
    /// Tests a commit of the merge queue: the target with changes merged one after the other, which are these.
    ///
    /// The commit of each is the one in the queue that completes it.
    case landing([MergedChange])
    /// Lets an agent work on a task, or checks what it made.
    case task(TaskRole)

    /// What a rerun repeats.
    public struct Rerun: Sendable, Equatable {
        public var of: RunID
        /// The first of the runs that repeat one another.
        public var origin: RunID
        /// Which of these runs this one is, from 1 for ``origin``.
        public var number: Int
        /// Whether it continues in the workspace that ``of`` left, where that is still there.
        public var resumes: Bool

        /// - Parameter origin: Nil where `run` repeats no other run.
        public init(of run: RunID, origin: RunID? = nil, number: Int = 2, resumes: Bool = false) {
            self.of = run
            self.origin = origin ?? run
            self.number = number
            self.resumes = resumes
        }
    }
}

/// Runs of merged code that nobody waits for: the daemon uses idle time for them. Raw values are what the store has.
public enum BackgroundRun: String, Sendable, Codable {
    case warmUp = "refresh"
    case cleanBuild = "cleanRoom"
    case bisect
    case flakeProbe = "learn"
}

/// How a run differs from others of its kind, as requested.
public struct RunOptions: Sendable, Equatable {
    /// Whether every step is run, also those that earlier runs have proved.
    public var refusesProofs = false
    /// Whether a command in the foreground waits for it: after a crash of the daemon it is not started again.
    public var isForeground = false
    /// Whether it starts from nothing although it could start from a snapshot.
    public var isClean = false
    /// Whether an agent asked for it: then it gets no secrets and is no release.
    public var isForAgent = false
    /// The machine whose snapshots it is about: no other one may run it, and its verdict is none of the commit. Nil if any
    /// will do.
    public var machine: String?
    /// The person who asked for it in a browser or by the API, in words: `ada`, `@ada at GitHub`. Nil for other runs.
    public var askedBy: String?

    public init() {}
}

extension RunRequest {
    /// The kind of background run; nil for other runs.
    public var background: BackgroundRun? {
        switch kind {
        case .triggered, .manual, .rerun, .fix, .landing, .task: nil
        case .warmUp: .warmUp
        case .cleanBuild: .cleanBuild
        case .bisect: .bisect
        case .flakeProbe: .flakeProbe
        }
    }

    /// The run's part in fixing another run; nil for other runs.
    public var fix: FixRole? {
        if case .fix(let role) = kind { role } else { nil }
    }

    /// The run's part in a task; nil for other runs.
    public var task: TaskRole? {
        if case .task(let role) = kind { role } else { nil }
    }

    /// Whether it is part of fixing another run or of a task. Then its verdict is none of a commit that somebody pushed.
    public var isAside: Bool { fix != nil || task != nil }

    /// The changes of the merge queue that it tests together; nil for other runs.
    public var landing: [MergedChange]? {
        if case .landing(let changes) = kind { changes } else { nil }
    }

    /// Whether the tested commit was made by a merge queue; also for a run that repeats one of these.
    public var isOfMergeQueue: Bool { ref.utf8.starts(with: Self.queuePrefix.utf8) }

    /// What the refs of runs of a merge queue begin with; the branch follows.
    public static let queuePrefix = "refs/pipectl/landing/"

    /// What it repeats; nil for a run that repeats none.
    public var rerun: RunKind.Rerun? {
        if case .rerun(let rerun) = kind { rerun } else { nil }
    }

    /// The run whose retained workspace it continues in, if that still exists; nil for other runs.
    public var resumes: RunID? {
        switch kind {
        case .rerun(let rerun): rerun.resumes ? rerun.of : nil
        case .fix(let role): role.isMaking ? role.of : nil
        default: nil
        }
    }

    /// Whether a push or a move of the target started it. Then requests for older commits of the change no longer apply.
    package var startsAnew: Bool { kind == .triggered && change != nil }
}
