package import Git

/// A folder below workspaces that nobody writes to any more.
package struct Layer: Sendable, Codable, Hashable {
    /// Absolute.
    package var path: String
    /// The owner of its files on the disk. To steps they look like their own.
    package var owner: UInt32
    package var group: UInt32

    package init(path: String, owner: UInt32, group: UInt32) {
        (self.path, self.owner, self.group) = (path, owner, group)
    }
}

/// What a workspace starts from: layers, newest first, and the tree that their tracked files are equal to.
package struct WorkspaceSource: Sendable, Codable {
    package var layers: [Layer]
    /// The tree of the commit that the layers are a checkout of, whatever else they contain.
    package var tree: OID
    /// The Git index of that tree, with the sizes and times of the files in the layers. Steps can't reach it.
    package var index: String

    package init(layers: [Layer], tree: OID, index: String) {
        (self.layers, self.tree, self.index) = (layers, tree, index)
    }
}
