internal import CGit

extension Repository {
    /// The best common ancestor of two commits; nil if their histories have no commit in common.
    public func mergeBase(_ one: OID, _ other: OID) throws(GitError) -> OID? {
        var (base, one, other) = (git_oid(), one.raw, other.raw)
        return try gitFinds("git_merge_base") { git_merge_base(&base, pointer, &one, &other) } ? OID(base) : nil
    }

    /// Whether `one` is `other` or in its history.
    public func isAncestor(_ one: OID, of other: OID) throws(GitError) -> Bool {
        guard one != other else { return true }
        var (one, other) = (one.raw, other.raw)
        return try git("git_graph_descendant_of") { git_graph_descendant_of(pointer, &other, &one) } == 1
    }

    /// The history of `head` without that of `excluding`, children before their parents.
    ///
    /// With `firstParent`, only first parents are followed: the commits that landed, without those that they merged.
    public func log(
        from head: OID, excluding: [OID] = [], limit: Int? = nil, firstParent: Bool = false
    ) throws(GitError) -> [Commit] {
        var commits: [Commit] = []
        for id in try walk(from: head, excluding: excluding, limit: limit, firstParent: firstParent) {
            commits.append(try commit(id))
        }
        return commits
    }

    /// The ids of that history, without reading the messages.
    package func walk(
        from head: OID, excluding: [OID], limit: Int?, firstParent: Bool
    ) throws(GitError) -> [OID] {
        let walk = try Handle("git_revwalk_new", free: git_revwalk_free) { git_revwalk_new(&$0, pointer) }
        if firstParent {
            try git("git_revwalk_simplify_first_parent") { git_revwalk_simplify_first_parent(walk.pointer) }
        }
        try git("git_revwalk_sorting") {
            git_revwalk_sorting(walk.pointer, GIT_SORT_TOPOLOGICAL.rawValue | GIT_SORT_TIME.rawValue)
        }
        var raw = head.raw
        try git("git_revwalk_push") { git_revwalk_push(walk.pointer, &raw) }
        for id in excluding {
            raw = id.raw
            try git("git_revwalk_hide") { git_revwalk_hide(walk.pointer, &raw) }
        }
        var ids: [OID] = []
        while ids.count < limit ?? .max {
            let code = git_revwalk_next(&raw, walk.pointer)
            if code == GIT_ITEROVER.rawValue { break }
            try git("git_revwalk_next") { code }
            ids.append(OID(raw))
        }
        return ids
    }

    package func parents(of id: OID) throws(GitError) -> [OID] {
        let handle = try commitHandle(id)
        return (0..<git_commit_parentcount(handle.pointer)).compactMap { number in
            git_commit_parent_id(handle.pointer, number).map { OID($0.pointee) }
        }
    }
}
