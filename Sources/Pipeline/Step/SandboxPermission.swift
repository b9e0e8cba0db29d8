/// What a step may do beyond what builds and tests need.
public enum SandboxPermission: String, Sendable, Codable, Hashable, CaseIterable {
    /// Make namespaces and mounts of its own: for tools that bring a sandbox.
    case nestedSandboxes
    /// Attach to other processes of the step: debuggers, leak checkers.
    case tracing
}

/// A folder that outlives runs: `.cache("swiftpm", at: "~/.cache/org.swift.swiftpm")`.
public struct CacheUse: Sendable, Equatable, Codable {
    /// Unique in the repository.
    public var name: String
    /// Where steps see it, below their home: `~/.cache/pip`.
    public var path: String

    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
