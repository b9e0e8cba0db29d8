import Git

/// What the new commits of a target say of themselves: the change that each message names, and who made it.
struct CommitWords {
    typealias Node = TargetHistory.Node

    /// The number of the change that each commit's message names.
    private(set) var named: [Node: Int] = [:]
    /// The author and title of each commit that may have landed a change.
    private(set) var makers: [Node: Maker] = [:]
    private var byName: [Int: [Node]] = [:]

    mutating func add(_ commit: Commit, at node: Node, mayLand: Bool) {
        if let number = NamedChange.number(in: commit.message) {
            named[node] = number
            byName[number, default: []].append(node)
        }
        if mayLand { makers[node] = Maker(commit) }
    }

    /// For a commit that turned out to have landed nothing by content.
    mutating func forgetMaker(of node: Node) { makers[node] = nil }

    /// Whether any commit names the change.
    func names(_ change: ChangeHead) -> Bool {
        NamedChange.number(of: change.name).map { byName[$0] != nil } ?? false
    }

    /// The commits that name the change with this number, oldest first.
    func commits(naming number: Int) -> [Node] { byName[number] ?? [] }
}
