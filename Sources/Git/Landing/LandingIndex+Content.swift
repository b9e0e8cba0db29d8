internal import CGit

extension LandingIndex {
    /// The commit that landed the change by doing what it does, as one commit or as the last of a row.
    func byContent(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
        if let claim = try byEqualLines(shape, except: merged) { return claim }
        if let claim = try byRow(shape, except: merged) { return claim }
        return try byMergeResult(shape, except: merged)
    }

    /// One commit that takes and gives the same lines as the whole change.
    private func byEqualLines(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
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
                guard try fingerprint(of: node) == wanted, try isItsWork(shape, node) else { continue }
                return try claim(shape, base, node)
            }
        }
        return nil
    }

    /// The last of a row of commits that repeat the change's own.
    private func byRow(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
        let work = shape.work
        guard work.count > 1, let base = shape.bases.first, let last = work.last else { return nil }
        let delta = try repository.treeDelta(from: last.parents.first, to: last.id)
        for node in commits(changing: delta) where isAfter(base, node) {
            var next: Node? = node
            var matches = true
            // From the last to the first: nearly every wrong row ends the comparison at once.
            for commit in work.reversed() where matches {
                if try tree(of: commit.parents.first) == commit.tree { continue }
                guard let node = next, !merged.contains(node), history.entries[node].parents.count < 2 else {
                    matches = false
                    continue
                }
                let own = try repository.treeDelta(from: commit.parents.first, to: commit.id)
                matches = deltas[node]?.paths == own.paths
                if matches {
                    let lines = try repository.fingerprint(from: commit.parents.first, to: commit.id)
                    matches = try fingerprint(of: node) == lines
                }
                next = history.entries[node].parents.first
            }
            guard matches, try isItsWork(shape, node) else { continue }
            var claim = try claim(shape, base, node)
            claim.how = .rebase
            return claim
        }
        return nil
    }

    private func tree(of commit: OID?) throws(GitError) -> OID? {
        guard let commit else { return nil }
        return try repository.commit(commit).tree
    }

    /// One commit whose tree is what merging the change into the commit's parent gives.
    private func byMergeResult(_ shape: ChangeShape, except merged: Set<Node>) throws(GitError) -> Claim? {
        let number = NamedChange.number(of: shape.change.name)
        for (base, delta) in zip(shape.bases, shape.deltas) where !delta.files.isEmpty {
            for node in commits(touching: delta) where !merged.contains(node) && mayBeIts(shape, node) {
                guard isPossible(delta, node), isAfter(base, node), try isItsWork(shape, node),
                    try hasMergeResult(shape, delta, node)
                else { continue }
                return try claim(shape, base, node)
            }
            // Renames hide a file from the comparison by path; Git's own merge sees them, but is slow.
            for node in number.map(commits(naming:)) ?? [] where isAfter(base, node) && !merged.contains(node) {
                if try hasWholeMergeResult(shape.change.head, node) { return try claim(shape, base, node) }
            }
        }
        return nil
    }

    /// A commit that the change's base contains cannot have landed it.
    private func isAfter(_ base: Node, _ node: Node) -> Bool {
        node > base && !history.isAncestor(node, of: base)
    }

    /// Whether a commit's message allows that it landed the change: it may not name another one we know of.
    private func mayBeIts(_ shape: ChangeShape, _ node: Node) -> Bool {
        guard let name = named[node], name != NamedChange.number(of: shape.change.name) else { return true }
        return !known.contains(name)
    }

    /// Whether a commit with the change's effect comes from the change: two people may make the same small edit.
    ///
    /// The commit names it, or names no other change we know of and shares an author or its summary.
    private func isItsWork(_ shape: ChangeShape, _ node: Node) throws(GitError) -> Bool {
        guard mayBeIts(shape, node) else { return false }
        if let name = named[node], name == NamedChange.number(of: shape.change.name) { return true }
        let landed = try repository.commit(history.entries[node].id)
        return shape.work.contains { commit in
            commit.author.email.lowercased() == landed.author.email.lowercased()
                || commit.author.name == landed.author.name || commit.summary == landed.summary
        }
    }

    private func claim(_ shape: ChangeShape, _ base: Node, _ node: Node) throws(GitError) -> Claim {
        // A rebase keeps when its last commit was written; a squash is written anew.
        let landed = try repository.commit(history.entries[node].id)
        let isSame = shape.work.last?.author.time == landed.author.time
        return Claim(
            change: shape.change, node: node, how: isSame ? .rebase : .squash, own: shape.own, base: base)
    }

    /// Whether a commit can be the change's merge result as far as its own files tell, without reading anything.
    private func isPossible(_ change: TreeDelta, _ node: Node) -> Bool {
        guard let landed = deltas[node], landed.files.count <= change.files.count else { return false }
        return landed.files.allSatisfy { path, file in
            guard let wanted = change.files[path] else { return false }
            return file.old == wanted.old ? file.new == wanted.new : file.old != wanted.new
        }
    }

    /// Whether merging the change into the commit's parent gives the commit, decided file by file.
    ///
    /// Files that only one side changed are compared by id. The rest is left to Git's merge, which therefore runs for
    /// the few commits that fit so far.
    private func hasMergeResult(_ shape: ChangeShape, _ change: TreeDelta, _ node: Node) throws(GitError) -> Bool {
        guard let landed = deltas[node], let parent = history.entries[node].parents.first else { return false }
        var needsMerge = landed.files.contains { path, file in file.old != change.files[path]?.old }
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
