public import Results

/// What the daemon is doing at this moment.
public struct DaemonStatus: Sendable, Codable {
    /// A repository that the daemon knows.
    public struct Repository: Sendable, Codable {
        /// The name, unique on the daemon.
        public var name: String
        /// Its path or URL.
        public var location: String
        /// False for a folder in which runs were started by hand.
        public var isWatched: Bool
        /// The number of changes by state: open, stale, conflict.
        public var changes: [String: Int]
        /// The branch that changes merge into; nil until it is known.
        public var target: String?
        /// What a person must decide about it, with the command to type; nil if there is nothing to decide.
        public var advice: String?

        package init(name: String, location: String, isWatched: Bool, changes: [String: Int]) {
            self.name = name
            self.location = location
            self.isWatched = isWatched
            self.changes = changes
        }
    }

    /// What a queued run waits for.
    public struct Wait: Sendable, Codable {
        /// The run's number.
        public var run: RunID
        /// The older run, with the command that ends the wait.
        public var reason: String

        package init(run: RunID, reason: String) { (self.run, self.reason) = (run, reason) }
    }

    /// The daemon's version of pipectl.
    public var version: String
    /// The daemon's process id.
    public var processID: Int32
    /// The number of steps that may run at the same time.
    public var slots: Int
    /// The repositories, by name.
    public var repositories: [Repository]
    /// Live runs, with those that wait for approval.
    public var running: [LiveRun]
    /// Queued runs, in the order in which they will start.
    public var queued: [RunSummary]
    /// Queued runs that wait for more than their turn; nil from a daemon of an older version.
    public var waits: [Wait]?
    /// Runs that need approval.
    public var held: [RunSummary]
    /// Why no run starts although some are queued.
    public var obstacle: String?
    /// Bytes that are free on the disk of the state folder.
    public var freeBytes: Int?
    /// The path of the state folder.
    public var state: String
    /// What the daemon found on the machine; nil from a daemon of an older version.
    public var machine: MachineStatus?
    /// The address of its pages; nil where it shows none.
    public var pages: String?

    package init(
        version: String, processID: Int32, slots: Int, repositories: [Repository], running: [LiveRun],
        queued: [RunSummary], held: [RunSummary], obstacle: String?, freeBytes: Int?,
        state: String, machine: MachineStatus?
    ) {
        self.version = version
        self.processID = processID
        self.slots = slots
        self.repositories = repositories
        self.running = running
        self.queued = queued
        self.held = held
        self.obstacle = obstacle
        self.freeBytes = freeBytes
        self.state = state
        self.machine = machine
    }
}

/// What a daemon can do on its machine, in words.
///
/// A shell of the same user may find something else, because it is in another control group.
public struct MachineStatus: Sendable, Codable {
    /// The kind of sandbox that steps run in; nil where there is none.
    public var sandbox: String?
    /// Why there is no sandbox.
    public var sandboxObstacle: String?
    /// How limits of steps are enforced.
    public var limits: String
    /// How workspaces are made.
    public var workspaces: String

    package init(sandbox: String?, sandboxObstacle: String?, limits: String, workspaces: String) {
        self.sandbox = sandbox
        self.sandboxObstacle = sandboxObstacle
        self.limits = limits
        self.workspaces = workspaces
    }
}
