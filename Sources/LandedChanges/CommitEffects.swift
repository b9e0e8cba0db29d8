import Git

/// What the new commits of a target change, each compared with its first parent, and found by the files.
struct CommitEffects {
    typealias Node = TargetHistory.Node

    private let repository: Repository
    private(set) var deltas: [Node: TreeDelta] = [:]
    private var byPaths: [Set<String>.Hashed: [Node]] = [:]
    private var byPath: [String: [Node]] = [:]
    /// Nil for a file whose lines are not compared.
    private var lineChanges: [TreeDelta.File: Int?] = [:]

    init(in repository: Repository) { self.repository = repository }

    /// Compares a commit with its first parent; false for one that changes nothing, and for one that changes too much
    /// to be compared, which is no reviewed change.
    mutating func add(_ node: Node, from parent: OID?, to commit: OID) throws(GitError) -> Bool {
        guard let delta = try delta(from: parent, to: commit), !delta.files.isEmpty else { return false }
        deltas[node] = delta
        byPaths[delta.paths, default: []].append(node)
        for path in delta.files.keys { byPath[path, default: []].append(node) }
        return true
    }

    /// Nil if it is too large.
    private func delta(from parent: OID?, to commit: OID) throws(GitError) -> TreeDelta? {
        do { return try repository.treeDelta(from: parent, to: commit) } catch {
            if error.code == .tooLarge { return nil }
            throw error
        }
    }

    /// The commits that change exactly these files, oldest first.
    func commits(changing delta: TreeDelta) -> [Node] { byPaths[delta.paths] ?? [] }

    /// The commits that change at least one of these files.
    func commits(touching delta: TreeDelta) -> Set<Node> {
        var found: Set<Node> = []
        for path in delta.files.keys { found.formUnion(byPath[path] ?? []) }
        return found
    }

    /// Whether a commit removes and adds the same lines as `change`, in the same files.
    mutating func repeats(_ change: TreeDelta, at node: Node) throws(GitError) -> Bool {
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

    private mutating func lineChange(of file: TreeDelta.File) throws(GitError) -> Int? {
        if let known = lineChanges[file] { return known }
        let value = try repository.lineChange(from: file.old.id, to: file.new.id)
        lineChanges[file] = .some(value)
        return value
    }
}
