import Git

/// A folder below workspaces that nobody writes to any more.
package struct Layer: Sendable, Codable, Hashable {
    /// Absolute.
    var path: String
    /// The owner of its files on the disk. To steps they look like their own.
    var owner: UInt32
    var group: UInt32
}

/// What a workspace starts from: layers, newest first, and the tree that their tracked files are equal to.
struct WorkspaceSource: Sendable, Codable {
    var layers: [Layer]
    /// The tree of the commit that the layers are a checkout of, whatever else they contain.
    var tree: OID
    /// The Git index of that tree, with the sizes and times of the files in the layers. Steps can't reach it.
    var index: String
}
