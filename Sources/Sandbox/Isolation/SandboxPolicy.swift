public import Pipeline

/// What the steps of one sandbox may do; steps of a run whose policies are equal share a sandbox.
public struct SandboxPolicy: Sendable, Hashable {
    /// Which network the steps may use.
    public var network: NetworkAccess
    /// Further permissions that the steps asked for.
    public var permissions: Set<SandboxPermission>
    /// The step that has the sandbox for itself: because it gets secrets, which other steps could read from its
    /// processes, or because it reviews what the other steps run.
    public var owner: String?
    /// What of this machine the steps may connect to without a network: paths of Unix sockets, and `localhost:PORT`.
    /// Where a sandbox has mounts and a loopback of its own, what it sees is what it may connect to.
    public var reachable: Set<String>

    public init(
        network: NetworkAccess = .denied, permissions: Set<SandboxPermission> = [], owner: String? = nil,
        reachable: Set<String> = []
    ) {
        self.network = network
        self.permissions = permissions
        self.owner = owner
        self.reachable = reachable
    }
}

/// A folder or file of the machine, and its path in a sandbox.
public struct SandboxMount: Sendable, Hashable {
    public enum Access: Sendable, Hashable { case read, write }

    /// Absolute path on the machine.
    public var source: String
    /// Absolute, in the sandbox.
    public var target: String
    /// Whether the sandbox may write to it.
    public var access: Access
    /// Whether it is left out where it does not exist.
    public var isOptional: Bool

    public init(_ source: String, at target: String? = nil, _ access: Access = .read, isOptional: Bool = false) {
        self.source = source
        self.target = target ?? source
        self.access = access
        self.isOptional = isOptional
    }
}
