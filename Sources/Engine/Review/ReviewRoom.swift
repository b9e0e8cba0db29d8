public import SystemPackage

/// The folders in which one review works, which no other step of the run can write to.
///
/// A review judges the change's code. In the workspace, home and sandbox of the other steps that code could rewrite the
/// judgement: plant files where the reviewer looks, write its answer, or end it.
public struct ReviewRoom: Sendable, Equatable {
    /// Has all of them; nothing else belongs in it.
    public let folder: FilePath

    public init(_ folder: FilePath) { self.folder = folder }

    /// Holds the tested files, before the run begins.
    public var workspace: FilePath { folder.appending("workspace") }
    var home: FilePath { folder.appending("home") }
    var temporary: FilePath { folder.appending("tmp") }
    var published: FilePath { folder.appending("published") }
}
