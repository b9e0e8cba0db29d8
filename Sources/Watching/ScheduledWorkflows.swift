import DaemonLog
import Git
import Logging
import Pipeline
import Results
import WorkflowPrograms

/// The workflows of a repository's default branch that run on schedule.
actor ScheduledWorkflows {
    private let repository: WatchedRepository
    private let host: any WatchHost
    private let log: Logger
    private var entries: [(declaration: WorkflowDeclaration, trigger: Trigger, cron: CronSchedule)] = []
    /// The tree of `workflows/` from which ``entries`` was read.
    private var tree: OID?

    init(_ repository: WatchedRepository, host: any WatchHost, log: Logger) {
        (self.repository, self.host, self.log) = (repository, host, log)
    }

    /// Whether the default branch was read once.
    var isKnown: Bool { tree != nil }

    /// Reads the schedules from the default branch. Compiling also warms the cache for the first change.
    ///
    /// - Returns: Whether the same refs would give the same schedules; if not, the next observation reads them again.
    func read(_ snapshot: RefSnapshot, _ target: TargetRule) async -> Bool {
        do {
            let seen = try await withRepository(at: repository.gitDirectory) { repository -> (tip: OID, tree: OID?)? in
                guard let branch = target.branch(in: snapshot.refs),
                    let tip = snapshot.refs["refs/heads/\(branch.name)"]
                else { return nil }
                return (tip, try repository.treeID(of: tip, path: "workflows"))
            }
            guard let (tip, found) = seen, let found, found != tree else { return true }
            tree = found
            let program = try await CommitWorkflows.program(at: tip, tree: found, repository, host.programs())
            entries = program.description.workflows.flatMap { declaration in
                declaration.triggers.compactMap { trigger in
                    guard let text = trigger.cron, let cron = try? CronSchedule(text) else { return nil }
                    return (declaration, trigger, cron)
                }
            }
            return true
        } catch {
            // The observation itself reports errors of the definition; then nothing is scheduled.
            entries = []
            return error is DefinitionError || error is EarlyVerdict
        }
    }

    /// Starts the runs that are due in the minute that begins at `minute`, in seconds since 1970.
    func start(at minute: Int, _ rules: ChangeRefs) async {
        for (declaration, trigger, cron) in entries where cron.matches(secondsSince1970: minute) {
            do {
                let snapshot = try await withRepository(at: repository.gitDirectory) { try $0.snapshot() }
                let due = snapshot.refs.entries(under: "refs/heads/").filter { ref in
                    if case .branch(let name) = rules.kind(of: ref.key) { trigger.matches(branch: name) } else { false }
                }
                for (ref, commit) in due {
                    try await host.accept(
                        RunRequest(
                            repository: repository.name, workflow: declaration.name, event: .schedule, ref: ref,
                            branch: String(ref.dropFirst("refs/heads/".count)), head: commit.hex,
                            definitionCommit: commit.hex, nonce: "scheduled for \(minute)", subject: ref,
                            concurrency: declaration.concurrency ?? .latestOnly,
                            runsAtMostOnce: declaration.runsAtMostOnce))
                }
            } catch {
                log.error(
                    "\(repository.name): \"\(declaration.name)\" could not be started on schedule: \(error)",
                    metadata: .code(.scheduleFailed, repository: repository.name))
            }
        }
    }
}
