public import Concurrency
public import Results
import Foundation
public import Pipeline
public import Sandbox
public import SystemPackage

/// How a plan is run: its folders, limits, sandbox, secrets and callbacks.
public struct RunSetting: Sendable {
    /// The workspace's path, as sandboxes show it to steps.
    public var workspace: FilePath
    /// The mount of the workspace, if it is mounted for the run alone, where the daemon can't see it.
    public var workspaceMount: WorkspaceMount?
    /// An existing folder of the run outside the workspace: logs, values, result files, artifacts.
    public var folder: FilePath
    /// The environment of every step, without the variables that the step itself declares: see ``baseEnvironment(_:)``.
    public var environment: [String: String]
    /// Returns the command that starts a closure step.
    public var closureCommand: @Sendable (_ step: String) -> [String]
    /// The path of the `stepinit` program.
    public var stepInit: FilePath
    /// How long a step may take to end after SIGTERM.
    public var grace: Duration
    /// How much of each log is kept.
    public var logLimits: LogLimits
    /// Limits for files that are taken out of the workspace.
    public var fileLimits: FileLimits
    /// The sandbox of the run's steps; nil: they run without one, as pipectl's own user.
    public var runSandbox: RunSandbox?
    /// A sandbox that was started in advance with the folders and the user of this run. The run ends it, used or not.
    public var standby: StandbySandbox?
    /// Limits that the daemon sets for each step and for the run; a workflow may set lower ones.
    public var stepLimits = Limits()
    /// The same for the run as a whole.
    public var runLimits = Limits()
    /// Tests whose failures are excused today.
    public var quarantine: [Quarantine] = []
    /// Ids of tests that were seen to fail and pass on the same tree: see `TestRetry.timesKnown`.
    public var knownFlaky: Set<String> = []
    /// By step, the tests that it was told to run. Each of them that has a suite must have run.
    public var onlyTests: [String: [KnownTest]] = [:]
    /// Counts and limits all processes of a step together; nil on machines without control groups.
    public var controlGroups: ControlGroups?
    /// Tells whether the daemon is about to end; nil where nobody waits for that.
    public var shutdown: ShutdownNotice?
    /// By step, its key. A step that has a key and passes is stored as a proof.
    public var keys: [String: StepKey] = [:]
    /// By step, names in ``environment`` that it is not given: see ``KeyedPlan/withheld``.
    public var withheld: [String: Set<String>] = [:]
    /// By step, the tracked files at its output paths: see ``KeyedPlan/tracked``.
    public var tracked: [String: [String]] = [:]
    /// Steps that earlier runs have proved and that are not run.
    public var proved: [String: ProvedStep] = [:]
    /// By step, the input of a review.
    public var reviews: [String: ReviewInput] = [:]
    /// The folders of a review, in place of those that the run's other steps share: see ``ReviewRoom``.
    var room: ReviewRoom?
    /// Steps that passed in the run whose workspace this run continues in, and that are not run.
    public var carried: [String: CarriedStep] = [:]
    /// Maximum size in bytes of a step's outputs that are stored: see `Step.outputs(_:)`.
    public var outputLimit = 1 << 30
    /// Which of the ready steps starts first; nil for the plan's own order.
    public var order: StepOrder?
    /// Records what a step is about to do, durably; nil if steps may run again after a crash.
    public var journal: StepJournal?
    /// Called right after a step's process was requested. It must not block; it may start work that was deferred until
    /// then.
    public var launched: (@Sendable () -> Void)?
    /// Called when no step will start any more. The run's sandboxes are ended after that.
    public var finished: (@Sendable () -> Void)?
    /// Waits for the decision about a step that needs approval. Returns nil if the signal came first, or if no decision
    /// can be made any more.
    public var approval: @Sendable (_ step: String, _ stop: StopSignal) async -> ApprovalDecision?
    /// The secrets of the run that its steps may name, and the masker for them.
    public var secrets: RunSecrets

    public init(
        workspace: FilePath, folder: FilePath, environment: [String: String],
        closureCommand: @escaping @Sendable (_ step: String) -> [String], stepInit: FilePath,
        grace: Duration = .seconds(10), logLimits: LogLimits = LogLimits(), fileLimits: FileLimits = FileLimits(),
        secrets: RunSecrets = .none,
        approval: @escaping @Sendable (_ step: String, _ stop: StopSignal) async -> ApprovalDecision? = { _, _ in nil }
    ) {
        self.workspace = workspace
        self.folder = folder
        self.environment = environment
        self.closureCommand = closureCommand
        self.stepInit = stepInit
        self.grace = grace
        self.logLimits = logLimits
        self.fileLimits = fileLimits
        self.approval = approval
        self.secrets = secrets
    }

    /// The path at which the daemon itself sees the steps' workspace.
    public var workspaceView: FilePath { workspaceMount?.view ?? workspace }
    /// The folder of logs, during and after the run.
    public var logs: FilePath { folder.appending("logs") }
    /// The folder of copied result files.
    public var results: FilePath { folder.appending("results") }
    /// The folder of copied artifacts, which are named by their digest.
    public var artifacts: FilePath { folder.appending("artifacts") }
    /// The folder that steps see at ``Sandbox/Place/shown`` through one mount: values, the context, user and group
    /// files.
    var shown: FilePath { FilePath(RunSetting.shown(in: folder.string)) }
    /// The folder through which steps pass values to each other.
    var values: FilePath { FilePath(RunSetting.values(in: folder.string)) }
    /// The folder in which each attempt has a folder for the values that it publishes.
    var published: FilePath { room?.published ?? shown.appending("published") }

    /// The subfolder of a run's folder that steps may read. It contains nothing else.
    public static func shown(in folder: String) -> String { "\(folder)/shown" }
    /// The folder below ``shown(in:)`` with the values that steps published.
    public static func values(in folder: String) -> String { "\(shown(in: folder))/values" }

    /// The home folder of steps, which belongs to this run alone.
    var home: FilePath { room?.home ?? folder.appending("home") }
    var temporary: FilePath { room?.temporary ?? folder.appending("tmp") }

    /// The path at which steps see a path of this setting.
    func seen(_ path: FilePath) -> FilePath {
        guard runSandbox != nil, Sandbox.hasMounts else { return path }
        let text = path.string
        for (own, place) in [
            (workspace.string, Sandbox.Place.workspace), (home.string, Sandbox.Place.home),
            (temporary.string, Sandbox.Place.temporary), (values.string, Sandbox.Place.values),
            (published.string, Sandbox.Place.published),
        ] where text.hasPrefix(own) {
            let rest = text.dropFirst(own.count)
            if rest.isEmpty || rest.hasPrefix("/") { return FilePath(place + rest) }
        }
        return path
    }

    /// ``baseEnvironment(_:)`` of this process, computed once.
    public static let ownEnvironment = baseEnvironment(ProcessInfo.processInfo.environment)

    /// The variables of the daemon's environment that steps may see: those that tools need, and none that could be a
    /// secret.
    public static func baseEnvironment(_ all: [String: String]) -> [String: String] {
        let wanted: Set<String> = [
            "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SDKROOT",
            "DEVELOPER_DIR", "TOOLCHAINS", "SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME", "LD_LIBRARY_PATH",
        ]
        var kept = all.filter { wanted.contains($0.key) || $0.key.hasPrefix("LC_") }
        kept["CI"] = "true"
        return kept
    }
}

/// The result of running a plan.
public struct RunOutcome: Sendable {
    /// The result of the whole run.
    public var verdict: Verdict
    /// The reason of the verdict, in one sentence.
    public var reason: String
    /// The records of all steps, in the plan's order.
    public var steps: [StepRecord]
    /// Tests of all steps, each with its attempts.
    public var tests: [TestResult]
    /// Findings of all steps.
    public var findings: [Finding]
    /// Files in ``RunSetting/artifacts``, by digest.
    public var artifacts: [ArtifactRecord]
    /// Paths below ``RunSetting/results``.
    public var resultFiles: [String]
    /// Whether every process of the run has ended. Until then no other run may use the run's user and caches.
    public var isAllEnded = true
}
