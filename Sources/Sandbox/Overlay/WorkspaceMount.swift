public import SystemPackage

/// A workspace that is mounted for one run alone, in a namespace of its own.
public struct WorkspaceMount: Sendable {
    /// Where the box reads and writes what steps see as their workspace.
    public var view: FilePath
    /// The folder with what was written since it was mounted, and nothing else.
    public var upper: FilePath
    /// The words before a command that is to see it.
    public var enter: [String]
    /// Whether those words still lead there: not after somebody has ended the process that holds it.
    public var isThere: @Sendable () -> Bool

    public init(view: FilePath, upper: FilePath, enter: [String], isThere: @escaping @Sendable () -> Bool) {
        self.view = view
        self.upper = upper
        self.enter = enter
        self.isThere = isThere
    }
}
