import Git

/// A folder below workspaces that nobody writes to any more.
package struct Layer: Sendable, Codable, Hashable {
    /// Absolute.
    var path: String
    /// Who owns its files on the disk; whoever works over it finds them as the own.
    var owner: UInt32
    var group: UInt32
}

/// What a workspace begins from: layers, newest first, and the tree that their tracked files are equal to.
struct WorkspaceSource: Sendable, Codable {
    var layers: [Layer]
    /// Of the commit whose checkout the layers are, whatever else is in them.
    var tree: OID
    /// The Git index of that tree, with the sizes and times that the layers' files have. Never in reach of a step.
    var index: String
}
