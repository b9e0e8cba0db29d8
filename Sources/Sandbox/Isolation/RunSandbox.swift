/// The sandboxes of one run: one for each policy that its steps have.
public struct RunSandbox: Sendable {
    /// The program that makes them.
    public let sandbox: Sandbox
    /// The user that steps run as; nil if the daemon does not run as root.
    public let user: StepUser?
    /// Mounts in addition to the system and the run's own folders.
    public var mounts: [SandboxMount]
    /// Cache folders, which outlive the run, by the name that steps give them.
    public var caches: [String: SandboxMount]

    public init(sandbox: Sandbox, user: StepUser?, mounts: [SandboxMount] = [], caches: [String: SandboxMount] = [:]) {
        self.sandbox = sandbox
        self.user = user
        self.mounts = mounts
        self.caches = caches
    }
}
