package import PlanOrder
package import Concurrency
import Foundation
package import Pipeline
package import Results
package import StepLogs
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How a plan is run: where, with which limits and secrets, and what is known of earlier runs.
package struct RunSetting: Sendable {
    /// Where the steps are run.
    package var place: any RunPlace
    /// An existing folder of this machine for what the run leaves: logs, result files, artifacts.
    package var folder: FilePath
    /// The environment of every step, without the variables that the step itself declares: see ``baseEnvironment(_:)``.
    package var environment: [String: String]
    /// How long a step may take to end after SIGTERM.
    package var grace: Duration
    /// How much of each log is kept.
    package var logLimits: LogLimits
    /// Limits for files that are taken out of the workspace.
    package var fileLimits: FileLimits
    /// Limits that the daemon sets for each step and for the run; a workflow may set lower ones.
    package var stepLimits = Limits()
    /// The same for the run as a whole.
    package var runLimits = Limits()
    /// Tests whose failures are excused today.
    package var quarantine: [Quarantine] = []
    /// Ids of tests that were seen to fail and pass on the same tree: see `TestRetry.timesKnown`.
    package var knownFlaky: Set<String> = []
    /// By step, the tests that it was told to run. Each of them that has a suite must have run.
    package var onlyTests: [String: [KnownTest]] = [:]
    /// Tells whether the daemon is about to end; nil where nobody waits for that.
    package var shutdown: ShutdownNotice?
    /// By step, its key. A step that has a key and passes is stored as a proof.
    package var keys: [String: StepKey] = [:]
    /// By step, names in ``environment`` that it is not given: see ``KeyedPlan/withheld``.
    package var withheld: [String: Set<String>] = [:]
    /// By step, the tracked files at its output paths: see ``KeyedPlan/tracked``.
    package var tracked: [String: [String]] = [:]
    /// Steps that earlier runs have proved and that are not run.
    package var proved: [String: ProvedStep] = [:]
    /// By step, the input of a review.
    package var reviews: [String: ReviewInput] = [:]
    /// Steps that passed in the run whose workspace this run continues in, and that are not run.
    package var carried: [String: CarriedStep] = [:]
    /// Maximum size in bytes of a step's outputs that are stored: see `Step.outputs(_:)`.
    package var outputLimit = 1 << 30
    /// How often a step may be given another machine without getting a place there. With the pauses after such a loss, that
    /// is about a day for a single machine.
    package var mostSites = 300
    /// Which of the ready steps starts first; nil for the plan's own order.
    package var order: StepOrder?
    /// Records what a step is about to do, durably; nil if steps may run again after a crash.
    package var journal: StepJournal?
    /// What is kept of the run for another life of the daemon; nil where nothing can go on then.
    package var kept: KeptSteps?
    /// Where logs are listed while they are written; nil where nobody follows them.
    package var outputs: LiveOutputs?
    /// Called when no step will start any more. The run's sandboxes are ended after that.
    package var finished: (@Sendable () -> Void)?
    /// Waits for the decision about a step that needs approval. Returns nil if the signal came first, or if no decision
    /// can be made any more.
    package var approval: @Sendable (_ step: String, _ stop: StopSignal) async -> ApprovalDecision?
    /// Makes and publishes releases; nil where that is not possible.
    package var releases: (any ReleaseWork)?
    /// The secrets of the run that its steps may name, and the masker for them.
    package var secrets: RunSecrets

    package init(
        place: any RunPlace, folder: FilePath, environment: [String: String], grace: Duration = .seconds(10),
        logLimits: LogLimits = LogLimits(), fileLimits: FileLimits = FileLimits(),
        secrets: RunSecrets = .none,
        approval: @escaping @Sendable (_ step: String, _ stop: StopSignal) async -> ApprovalDecision? = { _, _ in nil }
    ) {
        self.place = place
        self.folder = folder
        self.environment = environment
        self.grace = grace
        self.logLimits = logLimits
        self.fileLimits = fileLimits
        self.approval = approval
        self.secrets = secrets
    }

    /// The folder of logs, during and after the run.
    package var logs: FilePath { folder.appending("logs") }
    /// The folder of copied result files.
    package var results: FilePath { folder.appending("results") }
    /// The folder of copied artifacts, which are named by their digest.
    package var artifacts: FilePath { folder.appending("artifacts") }

    /// Creates the folders for what the steps of `plan` leave.
    ///
    /// - Throws: `Errno`.
    func makeFolders(for plan: Plan) throws {
        let hasResults = plan.steps.contains { !$0.testResults.isEmpty || $0.findings != nil }
        let hasFiles =
            plan.release != nil || plan.steps.contains { !$0.artifacts.isEmpty || !$0.outputs.isEmpty }
        for folder in [logs] + (hasResults ? [results] : []) + (hasFiles ? [artifacts] : []) {
            guard mkdir(folder.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        }
    }

    /// A new path in the run's folder for a file that is about to be taken over.
    func temporaryFile(in folder: FilePath) -> FilePath { folder.appending(".\(UInt64.random(in: .min ... .max))") }

    /// The plan with the limits that the daemon sets, where they are lower than its own.
    func limited(_ plan: Plan) -> Plan {
        var plan = plan
        plan.limits = plan.limits.within(runLimits)
        for index in plan.steps.indices { plan.steps[index].limits = plan.steps[index].limits.within(stepLimits) }
        return plan
    }

    /// ``baseEnvironment(_:)`` of this process, computed once.
    package static let ownEnvironment = baseEnvironment(ProcessInfo.processInfo.environment)

    /// The variables of the daemon's environment that steps may see: those that tools need, and none that could be a
    /// secret.
    package static func baseEnvironment(_ all: [String: String]) -> [String: String] {
        let wanted: Set<String> = [
            "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SDKROOT",
            "DEVELOPER_DIR", "TOOLCHAINS", "SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME", "LD_LIBRARY_PATH",
        ]
        var kept = all.filter { wanted.contains($0.key) || $0.key.hasPrefix("LC_") }
        kept["CI"] = "true"
        return kept
    }
}
