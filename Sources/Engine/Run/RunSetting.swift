public import Concurrency
public import Results
import Foundation
public import Pipeline
public import Sandbox
public import SystemPackage

/// Where and with what a plan is run.
public struct RunSetting: Sendable {
    /// The folder that steps work in, as sandboxes are told to show it.
    public var workspace: FilePath
    /// Set where that folder is mounted for the run alone, which the box itself does not see.
    public var workspaceMount: WorkspaceMount?
    /// An existing folder of the run's own outside the workspace: logs, values, result files, artifacts.
    public var folder: FilePath
    /// Environment of every step, without what the step itself declares: see ``baseEnvironment(_:)``.
    public var environment: [String: String]
    /// The words that start a closure step.
    public var closureCommand: @Sendable (_ step: String) -> [String]
    /// The `stepinit` program.
    public var stepInit: FilePath
    /// How long a step may take to end after SIGTERM.
    public var grace: Duration
    public var logLimits: LogLimits
    public var fileLimits: FileLimits
    /// What steps run in; nil: they run as they are, as the box's own user.
    public var runSandbox: RunSandbox?
    /// A sandbox that was started in advance with the folders and the user of this run; ended with it, used or not.
    public var standby: StandbySandbox?
    /// What the box allows each step and the run; a workflow may set less.
    public var stepLimits = Limits()
    public var runLimits = Limits()
    /// Tests whose failures fail no step today.
    public var quarantine: [Quarantine] = []
    /// Tests that were seen to fail and pass on the same tree, by their ids: see `TestRetry.timesKnown`.
    public var knownFlaky: Set<String> = []
    /// By the step, the tests that it was told to run, where it was told: those of them with a suite must have run.
    public var onlyTests: [String: [KnownTest]] = [:]
    /// Where there are control groups; they count and limit all processes of a step together.
    public var controlGroups: ControlGroups?
    /// Told when the box is to end; nil where nobody waits for that.
    public var shutdown: ShutdownNotice?
    /// What stands for each step that can be proved: steps that pass are proofs under these.
    public var keys: [String: StepKey] = [:]
    /// By the step, names in ``environment`` that it is not given: see ``KeyedPlan/withheld``.
    public var withheld: [String: Set<String>] = [:]
    /// By the step, see ``KeyedPlan/tracked``.
    public var tracked: [String: [String]] = [:]
    /// Steps that earlier runs have proved, and that are not run.
    public var proved: [String: ProvedStep] = [:]
    /// What steps that review begin with, by the step.
    public var reviews: [String: ReviewInput] = [:]
    /// The folders of one step alone, instead of those that the run's other steps share: see ``ReviewRoom``.
    var room: ReviewRoom?
    /// Steps that passed in the run whose workspace this one goes on with, and that are not run.
    public var carried: [String: CarriedStep] = [:]
    /// Bytes of what a step makes that are kept at most: see `Step.outputs(_:)`.
    public var outputLimit = 1 << 30
    /// Which of the steps that may start at once is started first; nil for the plan's own order.
    public var order: StepOrder?
    /// Where what a step is about to do is written down; nil where a step may be done again after a crash.
    public var journal: StepJournal?
    /// Called when the process of a step was asked for, and has to return at once: what may wait until then is begun then.
    public var launched: (@Sendable () -> Void)?
    /// Called when no step will begin any more; what they ran in is ended after that.
    public var finished: (@Sendable () -> Void)?
    /// Asks a person about a step and returns when there is an answer; nil when the signal came first, or nobody can
    /// be asked any more.
    public var approval: @Sendable (_ step: String, _ stop: StopSignal) async -> ApprovalDecision?
    /// What the run is given of the secrets that its steps name, and what masks them.
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

    /// Where the box itself finds what steps see as their workspace.
    public var workspaceView: FilePath { workspaceMount?.view ?? workspace }
    /// Where the logs are, while they grow and after.
    public var logs: FilePath { folder.appending("logs") }
    /// Where copies of result files are.
    public var results: FilePath { folder.appending("results") }
    /// Where copies of artifacts are, named by their digest.
    public var artifacts: FilePath { folder.appending("artifacts") }
    /// What steps find at ``Sandbox/Place/shown``, with one mount for all of it: values, the context, who they are.
    var shown: FilePath { FilePath(RunSetting.shown(in: folder.string)) }
    /// Where steps leave values for one another.
    var values: FilePath { FilePath(RunSetting.values(in: folder.string)) }
    /// Where each attempt writes the values that it publishes, in a folder of its own.
    var published: FilePath { room?.published ?? shown.appending("published") }

    /// Where the folder of a run has what its steps may read of it; nothing else belongs in there.
    public static func shown(in folder: String) -> String { "\(folder)/shown" }
    public static func values(in folder: String) -> String { "\(shown(in: folder))/values" }

    /// The steps' home, and what they see as /tmp; both are the run's own.
    var home: FilePath { room?.home ?? folder.appending("home") }
    var temporary: FilePath { room?.temporary ?? folder.appending("tmp") }

    /// Where steps see a path of this setting.
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

    /// ``baseEnvironment(_:)`` of this process, which never changes.
    public static let ownEnvironment = baseEnvironment(ProcessInfo.processInfo.environment)

    /// Variables of the box that steps may see: what tools need to work, and nothing that could be a secret.
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

/// What a plan came to.
public struct RunOutcome: Sendable {
    public var verdict: Verdict
    /// Why, in one sentence.
    public var reason: String
    /// In the plan's order.
    public var steps: [StepRecord]
    public var tests: [TestResult]
    public var findings: [Finding]
    /// Files in ``RunSetting/artifacts``, by digest.
    public var artifacts: [ArtifactRecord]
    /// Paths below ``RunSetting/results``.
    public var resultFiles: [String]
    /// Whether nothing that a step started can be alive; the run's user and caches are no other run's before.
    public var isAllEnded = true
}
