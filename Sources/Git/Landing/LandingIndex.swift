internal import CGit

/// A stretch of a target's history, which is read once and compared with changes.
///
/// Differences are computed when they are first needed, and kept. Like its ``Repository``, it belongs to one thread.
final class LandingIndex {
    typealias Node = TargetHistory.Node

    let repository: Repository
    let history: TargetHistory
    /// The difference of each new commit that was not merged to its first parent.
    private(set) var deltas: [Node: TreeDelta] = [:]
    /// The number of the change that each commit's message names.
    private(set) var named: [Node: Int] = [:]
    /// The numbers of the changes in question.
    var known: Set<Int> = []
    private var byPaths: [Set<String>.Hashed: [Node]] = [:]
    private var byPath: [String: [Node]] = [:]
    private var byName: [Int: [Node]] = [:]
    private var lineChanges: [TreeDelta.File: Int?] = [:]
    /// Commits that landed something by a merge, and so nothing by content.
    private var merged: Set<Node> = []
    /// The author and title of each new commit.
    private var makers: [Node: Maker] = [:]
    /// The ``makers`` of all commits that may have landed a change that they don't name.
    private var unnamed = Makers()

    /// The commits that were read, now or in an earlier observation.
    var knownCommits: KnownCommits
    /// How many changes were compared with their bases, file by file.
    var comparisons = 0

    /// Reads the history of `new`, and the messages of the commits that `old` does not contain.
    ///
    /// - Parameter commits: Commits that need not be read.
    init(
        _ repository: Repository, from old: OID?, to new: OID, _ commits: KnownCommits = KnownCommits()
    ) throws(GitError) {
        self.repository = repository
        var commits = commits
        try commits.read(historyOf: new, in: repository)
        knownCommits = commits
        // A tip that was replaced by a forced push is not in the new tip's history. What both share is old.
        let known: OID? =
            if let old { commits.places[old] == nil ? try repository.mergeBase(old, new) : old } else { nil }
        history = TargetHistory(commits, from: known, to: new)
        for (node, entry) in history.entries.enumerated() where !entry.isOld {
            let commit = try repository.commit(entry.id)
            if let number = NamedChange.number(in: commit.message) {
                named[node] = number
                byName[number, default: []].append(node)
            }
            // A merge on the main line may land a rebased branch; a merge inside a branch lands nothing.
            guard entry.parents.count < 2 || history.isOnMainline(node) else { continue }
            makers[node] = Maker(commit)
        }
    }

    /// Nil if it is too large.
    private func delta(from parent: OID?, to commit: OID) throws(GitError) -> TreeDelta? {
        do { return try repository.treeDelta(from: parent, to: commit) } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    func parent(of node: Node) -> OID? { history.entries[node].parents.first.map { history.entries[$0].id } }

    /// Whether a commit removes and adds the same lines as `change`, in the same files.
    func repeats(_ change: TreeDelta, at node: Node) throws(GitError) -> Bool {
        guard let landed = deltas[node], landed.files.count == change.files.count else { return false }
        var others: [(TreeDelta.File, TreeDelta.File)] = []
        for (path, file) in change.files {
            guard let other = landed.files[path] else { return false }
            if other == file { continue }
            // If the files differ, this is possible only if both are text files.
            guard file.isEdit, file.old.mode == other.old.mode, file.new.mode == other.new.mode, other.isEdit else {
                return false
            }
            others.append((file, other))
        }
        // Most commits differ from the change before any line is compared.
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

    /// Excludes commits that landed something by a merge, and computes the differences of the others.
    func setAside(_ nodes: Set<Node>) throws(GitError) {
        merged = nodes
        for (node, maker) in makers.sorted(by: { $0.key < $1.key }) where !nodes.contains(node) {
            // A difference that is too large to be compared is no reviewed change.
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

    /// Whether any commit may have landed a change by content.
    var hasCandidates: Bool {
        !deltas.isEmpty || named.keys.contains { !merged.contains($0) }
    }

    /// Whether any commit names the change, or names none.
    func mayHaveLanded(_ change: ChangeHead) -> Bool {
        if let number = NamedChange.number(of: change.name), byName[number] != nil { return true }
        return !unnamed.isEmpty
    }

    /// Whether any commit names the change, or shares its author or title and names no other change.
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
