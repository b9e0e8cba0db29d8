extension TreeSize {
    /// Whether it can be written by the process that watches: it is done in a moment, and no file of it is large in memory.
    public var isSmall: Bool { entries <= 20_000 && bytes <= 128 << 20 && largestFile <= 16 << 20 }
}

extension Repository {
    /// What ``checkoutLayer(_:files:gitDirectory:over:writing:)`` would write of `commit`, at most.
    ///
    /// - Parameters:
    ///   - difference: Nil for all of it.
    ///   - limits: Throws ``TreeExcess`` where the whole tree comes to more.
    public func checkoutCost(
        _ commit: OID, writing difference: TreeDifference?, limits: TreeLimits = TreeLimits()
    ) throws -> TreeSize {
        // To look up many by their paths would take longer than the walk through a tree that was measured before.
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
