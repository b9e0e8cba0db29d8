internal import CGit

extension LandingIndex {
    /// The one commit that does what the whole change does.
    func bySquash(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
        let number = NamedChange.number(of: shape.change.name)
        for (base, delta) in zip(shape.bases, shape.deltas) where !delta.files.isEmpty {
            var candidates = commits(changing: delta).filter { !merged.contains($0) }
            // Where several commits do the same (a change, its revert, its return), the one that names it comes first.
            if let number {
                candidates = candidates.filter { named[$0] == number } + candidates.filter { named[$0] != number }
            }
            var wanted: Fingerprint?
            for node in candidates where isAfter(base, node) {
                if wanted == nil {
                    wanted = try repository.fingerprint(from: history.entries[base].id, to: shape.change.head)
                }
                if try fingerprint(of: node) == wanted, try isItsWork(shape, node) {
                    return try claim(shape, base, node)
                }
            }
            for node in commits(touching: delta) where !merged.contains(node) && isAfter(base, node) {
                if try hasMergeResult(shape, base, delta, node), try isItsWork(shape, node) {
                    return try claim(shape, base, node)
                }
            }
            // Renames hide a file from the comparison by path; Git's own merge sees them, but is slow.
            for node in number.map(commits(naming:)) ?? [] where isAfter(base, node) && !merged.contains(node) {
                if try hasWholeMergeResult(shape.change.head, node) { return try claim(shape, base, node) }
            }
        }
        return nil
    }

    /// The last of a row of commits that repeat the change's own.
    func byRebase(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
        var wanted: [(delta: TreeDelta, fingerprint: Fingerprint)] = []
        for commit in shape.work {
            let delta = try repository.treeDelta(from: commit.parents.first, to: commit.id)
            guard !delta.files.isEmpty else { continue }
            guard !commits(changing: delta).isEmpty else { return nil }
            wanted.append((delta, try repository.fingerprint(from: commit.parents.first, to: commit.id)))
        }
        guard let last = wanted.last, let base = shape.bases.first else { return nil }
        for node in commits(changing: last.delta) where isAfter(base, node) {
            var next: Node? = node
            var matches = 0
            for twin in wanted.reversed() {
                guard let node = next, !merged.contains(node), history.entries[node].parents.count < 2,
                    deltas[node]?.paths == twin.delta.paths, try fingerprint(of: node) == twin.fingerprint
                else { break }
                matches += 1
                next = history.entries[node].parents.first
            }
            if matches == wanted.count, try isItsWork(shape, node) {
                return try claim(shape, base, node, how: .rebase)
            }
        }
        return nil
    }

    /// A commit that the change's base contains cannot have landed it.
    private func isAfter(_ base: Node, _ node: Node) -> Bool {
        node > base && !history.isAncestor(node, of: base)
    }

    /// Whether a commit with the change's effect comes from the change: two people may make the same small edit.
    ///
    /// The commit names it, or names no other change we know of and shares an author or its summary.
    private func isItsWork(_ shape: ChangeShape, _ node: Node) throws(GitError) -> Bool {
        if let name = named[node] {
            if name == NamedChange.number(of: shape.change.name) { return true }
            if known.contains(name) { return false }
        }
        let landed = try repository.commit(history.entries[node].id)
        return shape.work.contains { commit in
            commit.author.email.lowercased() == landed.author.email.lowercased()
                || commit.author.name == landed.author.name || commit.summary == landed.summary
        }
    }

    private func claim(
        _ shape: ChangeShape, _ base: Node, _ node: Node, how: Landing.How = .squash
    ) throws(GitError) -> Claim {
        var how = how
        // One commit for one commit: a rebase keeps when it was written, a squash is written anew.
        if shape.work.count == 1, let commit = shape.work.first {
            let landed = try repository.commit(history.entries[node].id)
            how = landed.author.time == commit.author.time ? .rebase : .squash
        }
        return Claim(change: shape.change, node: node, how: how, own: shape.own, base: base)
    }

    /// Whether merging the change into the commit's parent gives the commit, decided file by file.
    ///
    /// Files that only one side changed are compared by id. The rest is left to Git's merge, which therefore runs for
    /// the few commits that fit so far.
    private func hasMergeResult(
        _ shape: ChangeShape, _ base: Node, _ change: TreeDelta, _ node: Node
    ) throws(GitError) -> Bool {
        guard let landed = deltas[node], landed.files.count <= change.files.count,
            let parent = history.entries[node].parents.first
        else { return false }
        var needsMerge = false
        for (path, file) in landed.files {
            guard let wanted = change.files[path] else { return false }
            if file.old == wanted.old {
                guard file.new == wanted.new else { return false }
            } else {
                guard file.old != wanted.new else { return false }
                needsMerge = true
            }
        }
        let tree = try repository.commitTree(history.entries[parent].id)
        for (path, wanted) in change.files where landed.files[path] == nil {
            let now = repository.side(path, in: tree)
            if now == wanted.new { continue }
            guard now != wanted.old else { return false }
            needsMerge = true
        }
        return needsMerge ? try hasWholeMergeResult(shape.change.head, node) : true
    }

    /// Whether Git merges `head` into the commit's first parent without conflict to exactly the commit's tree.
    private func hasWholeMergeResult(_ head: OID, _ node: Node) throws(GitError) -> Bool {
        guard let parent = history.entries[node].parents.first else { return false }
        let index = try repository.mergedIndex(head, into: history.entries[parent].id)
        guard git_index_has_conflicts(index.pointer) == 0 else { return false }
        let tree = try repository.commitTree(history.entries[node].id)
        let diff = try Handle("git_diff_tree_to_index", free: git_diff_free) {
            git_diff_tree_to_index(&$0, repository.pointer, tree.pointer, index.pointer, nil)
        }
        return git_diff_num_deltas(diff.pointer) == 0
    }
}

extension Repository {
    /// A file as `tree` names it.
    fileprivate func side(_ path: String, in tree: borrowing Handle) -> TreeDelta.Side {
        var out: OpaquePointer?
        guard git_tree_entry_bypath(&out, tree.pointer, path) == 0, let out else {
            git_error_clear()
            return .absent
        }
        defer { git_tree_entry_free(out) }
        return TreeDelta.Side(
            id: OID(git_tree_entry_id(out).pointee), mode: UInt16(git_tree_entry_filemode(out).rawValue))
    }
}
