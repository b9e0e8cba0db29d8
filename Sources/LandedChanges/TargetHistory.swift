import Git

/// A target's commits as a graph of numbers, parents before children. It answers questions about ancestry without
/// reading objects.
struct TargetHistory {
    /// Position in ``entries``.
    typealias Node = Int

    struct Entry {
        var id: OID
        var parents: [Node]
        /// The first parent; nil if it is outside the stretch that was read.
        var firstParent: Node?
        /// One more than the highest generation of its parents. A commit is never in the history of one with a lower
        /// number.
        var generation: Int
        /// The position, on the line of first parents, of the commit that first contained this one.
        var arrival = 0
        /// Whether the old tip contains it: it landed before.
        var isOld = false
    }

    private(set) var entries: [Entry] = []
    private(set) var nodes: [OID: Node] = [:]
    /// The line of first parents, oldest first.
    private(set) var mainline: [Node] = []

    /// Takes all commits reachable from `new`, children before parents, as a topological walk returns them.
    init(commits: [(id: OID, parents: [OID])], from old: OID?, to new: OID) {
        entries.reserveCapacity(commits.count)
        for commit in commits.reversed() {
            let parents = commit.parents.compactMap { nodes[$0] }
            nodes[commit.id] = entries.count
            append(commit.id, parents, first: commit.parents.first.flatMap { nodes[$0] })
        }
        follow(from: old, to: new)
    }

    /// Takes the whole history of `new`.
    init(_ commits: KnownCommits, from old: OID?, to new: OID) {
        nodes = commits.places
        entries.reserveCapacity(commits.history.count)
        for line in commits.history { append(line.id, line.parents, first: line.parents.first) }
        follow(from: old, to: new)
    }

    private mutating func append(_ id: OID, _ parents: [Node], first: Node?) {
        var highest = 0
        for parent in parents { highest = max(highest, entries[parent].generation) }
        entries.append(Entry(id: id, parents: parents, firstParent: first, generation: highest + 1, arrival: -1))
    }

    /// Finds the line of first parents, the commits that each of its commits brought, and the old commits.
    private mutating func follow(from old: OID?, to new: OID) {
        var next = nodes[new]
        while let node = next {
            mainline.append(node)
            next = entries[node].firstParent
        }
        mainline.reverse()
        for (position, node) in mainline.enumerated() {
            visit(node) { entry in
                guard entry.arrival < 0 else { return false }
                entry.arrival = position
                return true
            }
        }
        if let old, let node = nodes[old] {
            visit(node) { entry in
                guard !entry.isOld else { return false }
                entry.isOld = true
                return true
            }
        }
    }

    /// The commit on the line of first parents that brought `node`.
    func bringer(of node: Node) -> Node { mainline[entries[node].arrival] }

    func isOnMainline(_ node: Node) -> Bool { bringer(of: node) == node }

    /// Whether `one` is `other` or in its history.
    func isAncestor(_ one: Node, of other: Node) -> Bool {
        let floor = entries[one].generation
        var (seen, open): (Set<Node>, [Node]) = ([other], [other])
        while let node = open.popLast() {
            if node == one { return true }
            for parent in entries[node].parents where entries[parent].generation >= floor {
                if seen.insert(parent).inserted { open.append(parent) }
            }
        }
        return false
    }

    /// Those of `candidates` that are in the history of no other candidate. At the edge of a change's history, these
    /// are the merge bases.
    func newest(of candidates: Set<Node>) -> [Node] {
        guard candidates.count > 1 else { return Array(candidates) }
        let floor = candidates.map { entries[$0].generation }.min() ?? 0
        var seen: Set<Node> = []
        var newest: [Node] = []
        for candidate in candidates.sorted(by: { (entries[$0].generation, $0) > (entries[$1].generation, $1) })
        where !seen.contains(candidate) {
            newest.append(candidate)
            var open = [candidate]
            while let node = open.popLast() {
                guard seen.insert(node).inserted else { continue }
                open += entries[node].parents.filter { entries[$0].generation >= floor }
            }
        }
        return newest
    }

    /// Walks from `start` towards the roots, as long as `enter` returns true.
    private mutating func visit(_ start: Node, _ enter: (inout Entry) -> Bool) {
        var open = [start]
        while let node = open.popLast() {
            if enter(&entries[node]) { open += entries[node].parents }
        }
    }
}
