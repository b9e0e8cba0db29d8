extension TreeSize {
    /// Whether the daemon's own process may write it: that takes only a moment, and no file needs much memory.
    public var isSmall: Bool { entries <= 20_000 && bytes <= 128 << 20 && largestFile <= 16 << 20 }
}

extension Repository {
    /// The most that ``checkoutLayer(_:files:gitDirectory:over:writing:)`` would write of `commit`.
    ///
    /// - Parameters:
    ///   - difference: Nil: the whole tree.
    ///   - limits: The limits for the whole tree. If it exceeds one, ``TreeExcess`` is thrown.
    public func checkoutCost(
        _ commit: OID, writing difference: TreeDifference?, limits: TreeLimits = TreeLimits()
    ) throws -> TreeSize {
        // Looking up many paths would take longer than walking a tree whose size is already known.
        guard let difference, difference.written.count <= 2_000 else {
            return try measure(commit: commit, limits: limits)
        }
        let root = try treeID(of: commit)
        var cost = TreeSize()
        for path in difference.written {
            let bytes = try blobID(at: path, in: root).map { id throws(GitError) in try size(of: id) } ?? 0
            cost.add(file: bytes, name: path.count)
        }
        return cost
    }
}
