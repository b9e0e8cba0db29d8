import Foundation
import Git

extension LandingIndex {
    /// The commits that may have landed the change by content, as one commit or as the last of a row, in the order in
    /// which they are tried. The list ends with the first commit that is certain without a merge.
    func options(for shape: ChangeShape) throws(GitError) -> [LandingDraft.Option] {
        guard !shape.deltas.isEmpty else { return [] }
        // If a file can't be read, as in a partial clone, the ids in trees still show what was merged.
        if let claim = try whatIsThere({ () throws(GitError) in try byEqualLines(shape) }) {
            return [LandingDraft.Option(claim: claim)]
        }
        if let claim = try whatIsThere({ () throws(GitError) in try byRow(shape) }) {
            return [LandingDraft.Option(claim: claim)]
        }
        return try byMergeResult(shape)
    }

    /// A commit that removes and adds the same lines as the whole change.
    private func byEqualLines(_ shape: ChangeShape) throws(GitError) -> LandingClaim? {
        let number = NamedChange.number(of: shape.change.name)
        for (base, delta) in zip(shape.bases, shape.deltas) where !delta.files.isEmpty {
            var candidates = commits(changing: delta)
            // If several commits do the same (a change, its revert, its return), the one that names the change comes
            // first.
            if let number {
                candidates =
                    candidates.filter { words.named[$0] == number } + candidates.filter { words.named[$0] != number }
            }
            for node in candidates where isItsWork(shape, node) && isAfter(base, node) {
                if try repeats(delta, at: node) { return try claim(shape, base, node) }
            }
        }
        return nil
    }

    /// The last of a row of commits that repeat the change's own commits.
    private func byRow(_ shape: ChangeShape) throws(GitError) -> LandingClaim? {
        let work = shape.work
        guard work.count > 1, let base = shape.bases.first, let last = work.last else { return nil }
        let delta = try repository.treeDelta(from: last.parents.first, to: last.id)
        for node in commits(changing: delta) where isItsWork(shape, node) && isAfter(base, node) {
            guard try isRow(of: work, endingAt: node) else { continue }
            var claim = try claim(shape, base, node)
            claim.how = .rebase
            return claim
        }
        return nil
    }

    /// Whether the commits up to `end` repeat `work` one by one.
    private func isRow(of work: [OwnCommit], endingAt end: Node) throws(GitError) -> Bool {
        var next: Node? = end
        // From the last to the first, because nearly every wrong row fails at once.
        for commit in work.reversed() {
            if try tree(of: commit.parents.first) == repository.treeID(of: commit.id) { continue }
            guard let node = next, !isMerged(node), history.entries[node].parents.count < 2 else { return false }
            let own = try repository.treeDelta(from: commit.parents.first, to: commit.id)
            guard try repeats(own, at: node) else { return false }
            next = history.entries[node].parents.first
        }
        return true
    }

    private func tree(of commit: OID?) throws(GitError) -> OID? {
        guard let commit else { return nil }
        return try repository.treeID(of: commit)
    }

    /// Commits whose tree may be the result of merging the change into the commit's parent.
    private func byMergeResult(_ shape: ChangeShape) throws(GitError) -> [LandingDraft.Option] {
        let number = NamedChange.number(of: shape.change.name)
        var options: [LandingDraft.Option] = []
        for (base, delta) in zip(shape.bases, shape.deltas) where !delta.files.isEmpty {
            for node in commits(touching: delta)
            where isItsWork(shape, node) && isPossible(delta, node) && isAfter(base, node) {
                let need = try mergeNeed(shape, delta, node)
                guard need != .impossible else { continue }
                guard need == .merge else {
                    options.append(LandingDraft.Option(claim: try claim(shape, base, node)))
                    return options
                }
                guard let question = try question(shape, from: base, delta, node) else { continue }
                options.append(LandingDraft.Option(claim: try claim(shape, base, node), question: question))
            }
            // A rename hides a file from the comparison by path; a merge recognises it.
            for node in number.map(commits(naming:)) ?? [] where isAfter(base, node) {
                guard let question = try question(shape, from: base, delta, node) else { continue }
                options.append(LandingDraft.Option(claim: try claim(shape, base, node), question: question))
            }
        }
        return options
    }

    /// Whether a commit changed only files that the change also changed, as the landing commit does. It compares a few
    /// ids instead of all folders that the change touches.
    func sharesFiles(_ shape: ChangeShape) throws(GitError) -> Bool {
        // A commit that names the change may have renamed files. For many commits, comparing the whole change once is
        // faster.
        if let number = NamedChange.number(of: shape.change.name), !commits(naming: number).isEmpty { return true }
        guard effects.deltas.count <= 32 else { return true }
        let landed = effects.deltas.filter { isItsWork(shape, $0.key) }.map { $0.value.files.keys }
        guard !landed.isEmpty else { return false }
        var pairs = shape.bases.map { (old: history.entries[$0].id, new: shape.change.head) }
        if shape.work.count > 1, let last = shape.work.last {
            guard let parent = last.parents.first else { return true }
            pairs.append((parent, last.id))
        }
        for (old, new) in pairs {
            let older = try repository.files(of: old)
            let newer = try repository.files(of: new)
            for paths in landed {
                // A path that is not UTF-8 can't be looked up.
                let isShared = paths.allSatisfy {
                    $0.contains("\u{FFFD}") || older.side($0) != newer.side($0)
                }
                if isShared { return true }
            }
        }
        return false
    }

    /// A commit that the change's base contains can't have landed it.
    private func isAfter(_ base: Node, _ node: Node) -> Bool {
        node > base && !history.isAncestor(node, of: base)
    }

    /// Whether a commit with the change's effect comes from the change, because two people may make the same small
    /// edit.
    ///
    /// The commit must name the change, or name no known change and share the author or the title.
    private func isItsWork(_ shape: ChangeShape, _ node: Node) -> Bool {
        if let name = words.named[node] {
            if name == NamedChange.number(of: shape.change.name) { return true }
            if known.contains(name) { return false }
        }
        return words.makers[node].map { shape.makers.share($0) } ?? false
    }

    private func claim(_ shape: ChangeShape, _ base: Node, _ node: Node) throws(GitError) -> LandingClaim {
        // A rebase keeps the author date of its last commit; a squash has a new one.
        let id = history.entries[node].id
        let written = if let last = shape.work.last { try repository.commit(last.id).author.time } else { Date?.none }
        let isSame = try written == repository.commit(id).author.time
        return LandingClaim(
            change: shape.change, commit: id, names: words.named[node], how: isSame ? .rebase : .squash,
            own: shape.own.map(\.id), base: base)
    }

    /// Whether a commit may be the change's merge result, judged by its own files without reading anything.
    private func isPossible(_ change: TreeDelta, _ node: Node) -> Bool {
        guard let landed = effects.deltas[node], landed.files.count <= change.files.count else { return false }
        return landed.files.allSatisfy { path, file in
            guard let wanted = change.files[path] else { return false }
            return file.old == wanted.old ? file.new == wanted.new : file.old != wanted.new
        }
    }

    private enum MergeNeed { case impossible, none, merge }

    /// Whether merging the change into the commit's parent may give the commit, decided file by file.
    ///
    /// Files that only one side changed are compared by id. A merge decides the rest, for the few commits that fit so
    /// far.
    private func mergeNeed(_ shape: ChangeShape, _ change: TreeDelta, _ node: Node) throws(GitError) -> MergeNeed {
        guard let landed = effects.deltas[node], let parent = history.entries[node].parents.first else {
            return .impossible
        }
        var needsMerge = landed.files.contains { path, file in file.old != change.files[path]?.old }
        let tree = try repository.files(of: history.entries[parent].id)
        for (path, wanted) in change.files where landed.files[path] == nil {
            let now = tree.side(path)
            if now == wanted.new { continue }
            guard now != wanted.old else { return .impossible }
            needsMerge = true
        }
        return needsMerge ? .merge : .none
    }

    /// The question for a merge; nil if the files' lines already show that the commit is not the result.
    private func question(
        _ shape: ChangeShape, from base: Node, _ change: TreeDelta, _ node: Node
    ) throws(GitError) -> LandingQuestion? {
        guard let parent = parent(of: node) else { return nil }
        let baseTree = try repository.files(of: history.entries[base].id)
        let headTree = try repository.files(of: shape.change.head)
        // Nil if the commit changes nothing, because then the work may have been in the target before.
        for (path, file) in effects.deltas[node]?.files ?? [:] {
            let own = change.files[path]
            let versions = Repository.Versions(
                base: own?.old ?? baseTree.side(path), target: file.old,
                change: own?.new ?? headTree.side(path), merged: file.new)
            guard try repository.mayBeMerge(versions) else { return nil }
        }
        return LandingQuestion(
            pair: MergePair(shape.change.head, into: parent), tree: try repository.treeID(of: history.entries[node].id))
    }
}
