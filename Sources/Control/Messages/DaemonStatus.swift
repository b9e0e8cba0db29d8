public import Results

/// What the daemon is doing at this moment.
public struct DaemonStatus: Sendable, Codable {
    public struct Repository: Sendable, Codable {
        public var name: String
        public var location: String
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

    public var version: String
    public var processID: Int32
    public var slots: Int
    public var repositories: [Repository]
    public var running: [LiveRun]
    public var queued: [RunSummary]
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
