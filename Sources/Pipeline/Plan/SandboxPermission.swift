/// What the sandbox lets a step do beyond what builds and tests usually need.
public enum SandboxPermission: String, Sendable, Codable, Hashable, CaseIterable {
    /// Make namespaces and mounts of its own: for tools that have their own sandbox.
    case nestedSandboxes
    /// Attach to other processes of the step: for debuggers and leak checkers.
    case tracing
}

/// A folder that is kept from run to run: `.cache("swiftpm", at: "~/.cache/org.swift.swiftpm")`.
public struct CacheUse: Sendable, Equatable, Codable {
    /// Unique in the repository.
    public var name: String
    /// The path that steps see, below their home folder: `~/.cache/pip`.
    public var path: String

    /// A cache at a `path` that begins with `~/`, the home folder of steps.
    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
