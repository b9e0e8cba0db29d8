/// The sandboxes of one run: one for each policy that its steps have.
public struct RunSandbox: Sendable {
    public let sandbox: Sandbox
    /// Whom steps become; nil where the box isn't root.
    public let user: StepUser?
    /// What its sandboxes show beside the system and the run's own folders.
    public var mounts: [SandboxMount]
    /// Folders that outlive the run, by the name that steps give them.
    public var caches: [String: SandboxMount]

    public init(sandbox: Sandbox, user: StepUser?, mounts: [SandboxMount] = [], caches: [String: SandboxMount] = [:]) {
        self.sandbox = sandbox
        self.user = user
        self.mounts = mounts
        self.caches = caches
    }
}
