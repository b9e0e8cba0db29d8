public import SystemPackage

/// The folders of one review, which no other step of the run can write to.
///
/// A review judges the code of a change. In the workspace, home or sandbox of the other steps, that code could forge
/// the judgement: it could plant files for the reviewer to read, write its answer, or end it.
public struct ReviewRoom: Sendable, Equatable {
    /// Contains all folders of the review and nothing else.
    public let folder: FilePath

    public init(_ folder: FilePath) { self.folder = folder }

    /// Contains the tested files before the run begins.
    public var workspace: FilePath { folder.appending("workspace") }
    var home: FilePath { folder.appending("home") }
    var temporary: FilePath { folder.appending("tmp") }
    var published: FilePath { folder.appending("published") }
}
