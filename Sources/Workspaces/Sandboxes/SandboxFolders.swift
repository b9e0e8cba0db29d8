/// Folders of the machine that sandboxes show at the same path, beside the system and a run's own folders.
public struct SandboxFolders: Sendable {
    /// Shown read-only to all steps.
    public var readable: [String]
    /// Shown to all steps; only steps of merged code may write to them.
    public var writable: [String]
    /// All steps may write to them.
    public var shared: [String]

    public init(readable: [String] = [], writable: [String] = [], shared: [String] = []) {
        self.readable = readable
        self.writable = writable
        self.shared = shared
    }
}
