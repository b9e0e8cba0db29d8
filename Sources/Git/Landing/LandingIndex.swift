internal import CGit

/// A stretch of a target's history, read once, against which changes are held.
///
/// Differences are computed when first asked for and kept. Like its ``Repository``, it belongs to one thread.
final class LandingIndex {
    typealias Node = TargetHistory.Node

    let repository: Repository
    let history: TargetHistory
    /// What each commit after the old tip, that was not merged, does against its first parent.
    private(set) var deltas: [Node: TreeDelta] = [:]
    /// The change that a commit's message names.
    private(set) var named: [Node: Int] = [:]
    /// The numbers of the changes that are asked about.
    var known: Set<Int> = []
    private var byPaths: [Set<String>.Hashed: [Node]] = [:]
    private var byPath: [String: [Node]] = [:]
    private var byName: [Int: [Node]] = [:]
    private var lineChanges: [TreeDelta.File: Int?] = [:]
    /// Commits that landed something by being merged, and so nothing by what they do.
    private var merged: Set<Node> = []
    /// Who wrote each commit after the old tip, and its title.
    private var makers: [Node: Maker] = [:]
    /// What is in ``makers`` of all commits that may have landed a change that they don't name.
    private var unnamed = Makers()

    /// The commits that were read, now or by an earlier look.
    var knownCommits: KnownCommits
    /// How many changes were compared with their bases, file by file.
    var comparisons = 0

    /// Reads the history of `new`, and what the messages in it say that `old` does not contain.
    ///
    /// - Parameter commits: Those that need not be read.
    init(
        _ repository: Repository, from old: OID?, to new: OID, _ commits: KnownCommits = KnownCommits()
    ) throws(GitError) {
        self.repository = repository
        var commits = commits
        try commits.read(historyOf: new, in: repository)
        knownCommits = commits
        // A tip that was replaced by a forced push is not in the new one's history; what both share is.
        let known: OID? =
            if let old { commits.places[old] == nil ? try repository.mergeBase(old, new) : old } else { nil }
        history = TargetHistory(commits, from: known, to: new)
        for (node, entry) in history.entries.enumerated() where !entry.isOld {
            let commit = try repository.commit(entry.id)
            if let number = NamedChange.number(in: commit.message) {
                named[node] = number
                byName[number, default: []].append(node)
            }
            // A merge on the main line may land a rebased branch; one inside a branch lands nothing.
            guard entry.parents.count < 2 || history.isOnMainline(node) else { continue }
            makers[node] = Maker(commit)
        }
    }

    /// Nil where it is too large.
    private func delta(from parent: OID?, to commit: OID) throws(GitError) -> TreeDelta? {
        do { return try repository.treeDelta(from: parent, to: commit) } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    func parent(of node: Node) -> OID? { history.entries[node].parents.first.map { history.entries[$0].id } }

    /// Whether a commit takes and gives the same lines as `change`, in the same files.
    func repeats(_ change: TreeDelta, at node: Node) throws(GitError) -> Bool {
        guard let landed = deltas[node], landed.files.count == change.files.count else { return false }
        var others: [(TreeDelta.File, TreeDelta.File)] = []
        for (path, file) in change.files {
            guard let other = landed.files[path] else { return false }
            if other == file { continue }
            // Only of two files with lines can those be the same where the files are not.
            guard file.isEdit, file.old.mode == other.old.mode, file.new.mode == other.new.mode, other.isEdit else {
                return false
            }
            others.append((file, other))
        }
        // Most commits are told from the change before a line is compared.
        for (file, other) in others {
            guard let lines = try lineChange(of: file), try lineChange(of: other) == lines else { return false }
        }
        return true
    }

    private func lineChange(of file: TreeDelta.File) throws(GitError) -> Int? {
        if let known = lineChanges[file] { return known }
        let value = try repository.lineChange(from: file.old.id, to: file.new.id)
        lineChanges[file] = .some(value)
        return value
    }

    /// Leaves commits out that landed something by being merged, and finds out what the others changed.
    func setAside(_ nodes: Set<Node>) throws(GitError) {
        merged = nodes
        for (node, maker) in makers.sorted(by: { $0.key < $1.key }) where !nodes.contains(node) {
            // What differs in more than can be compared is no change that a review brought.
            guard let delta = try delta(from: parent(of: node), to: history.entries[node].id), !delta.files.isEmpty
            else {
                makers[node] = nil
                continue
            }
            deltas[node] = delta
            byPaths[delta.paths, default: []].append(node)
            for path in delta.files.keys { byPath[path, default: []].append(node) }
            if let name = named[node], known.contains(name) { continue }
            unnamed.add(maker)
        }
    }

    /// Whether there is a commit that may have landed a change by what it does.
    var hasCandidates: Bool {
        !deltas.isEmpty || named.keys.contains { !merged.contains($0) }
    }

    /// Whether there is a commit that names the change, or one that names none.
    func mayHaveLanded(_ change: ChangeHead) -> Bool {
        if let number = NamedChange.number(of: change.name), byName[number] != nil { return true }
        return !unnamed.isEmpty
    }

    /// Whether a commit here names the change, or has an author or a title of it and names no other one.
    func mayHaveLanded(_ shape: ChangeShape) -> Bool {
        if let number = NamedChange.number(of: shape.change.name), byName[number] != nil { return true }
        return unnamed.sharesAny(with: shape.makers)
    }

    func maker(of node: Node) -> Maker? { makers[node] }

    /// The commits that change exactly these files, oldest first.
    func commits(changing delta: TreeDelta) -> [Node] { (byPaths[delta.paths] ?? []).filter { !merged.contains($0) } }

    /// The commits that change at least one of these files, oldest first.
    func commits(touching delta: TreeDelta) -> [Node] {
        var found: Set<Node> = []
        for path in delta.files.keys { found.formUnion(byPath[path] ?? []) }
        return found.subtracting(merged).sorted()
    }

    /// The commits whose message names this change, oldest first.
    func commits(naming number: Int) -> [Node] { (byName[number] ?? []).filter { !merged.contains($0) } }

    func isMerged(_ node: Node) -> Bool { merged.contains(node) }
}

extension Repository {
    func parents(of id: OID) throws(GitError) -> [OID] {
        let handle = try commitHandle(id)
        return (0..<git_commit_parentcount(handle.pointer)).compactMap { number in
            git_commit_parent_id(handle.pointer, number).map { OID($0.pointee) }
        }
    }
}
