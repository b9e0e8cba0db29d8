public import SystemPackage

/// A workspace that is mounted for one run alone, in its own namespace.
public struct WorkspaceMount: Sendable {
    /// The path through which the daemon reads and writes the steps' workspace.
    public var view: FilePath
    /// The folder with only those files that were written since the workspace was mounted.
    public var upper: FilePath
    /// The start of a command that is to see the mount.
    public var enter: [String]
    /// Whether the mount still exists: it does not if somebody has ended the process that holds it.
    public var isThere: @Sendable () -> Bool

    public init(view: FilePath, upper: FilePath, enter: [String], isThere: @escaping @Sendable () -> Bool) {
        self.view = view
        self.upper = upper
        self.enter = enter
        self.isThere = isThere
    }
}
