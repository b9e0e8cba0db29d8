import Git

/// The commits of a target's history and of changes beside it, with the facts that recognising landed changes needs.
///
/// A commit's parents and author follow from its id, so nothing in here can become outdated. If refs move or a history
/// is replaced, other commits are needed, and those are read.
struct KnownCommits: Equatable {
    struct Line: Equatable {
        var id: OID
        /// Positions in ``history``.
        var parents: [Int]
    }

    /// The whole history of one commit, parents before children. That commit is the last one.
    private(set) var history: [Line] = []
    /// Positions in ``history``, by id.
    private(set) var places: [OID: Int] = [:]
    /// Commits of changes that are not in the history, or were not when they were read.
    private(set) var own: [OID: OwnCommit] = [:]
    /// The number of commits that were read from the repository by this value.
    private(set) var reads = 0
    /// Whether ``history`` was cut to that of an older commit.
    private(set) var isCut = false

    init() {}

    /// - Parameter history: Parents before children.
    init(history: [Line], own: [OwnCommit]) {
        self.history = history
        places.reserveCapacity(history.count)
        for (place, line) in history.enumerated() { places[line.id] = place }
        self.own.reserveCapacity(own.count)
        for commit in own { self.own[commit.id] = commit }
    }

    /// Makes ``history`` that of `tip`. Commits that are not known yet are read.
    mutating func read(historyOf tip: OID, in repository: Repository) throws(GitError) {
        if let last = history.last?.id, last != tip {
            if let place = places[tip] { return cut(to: place) }
            if try !append(tip, after: last, in: repository) { (history, places) = ([], [:]) }
        }
        if history.isEmpty { _ = try append(tip, after: nil, in: repository) }
    }

    /// A commit of a change; nil if it is missing.
    mutating func commit(_ id: OID, in repository: Repository) throws(GitError) -> OwnCommit? {
        if let known = own[id] { return known }
        guard repository.contains(id) else { return nil }
        let commit = OwnCommit(try repository.commit(id))
        reads += 1
        own[id] = commit
        return commit
    }

    /// Adds the commits that `tip` has and `last` does not; false if `last` is not in the history of `tip`.
    private mutating func append(_ tip: OID, after last: OID?, in repository: Repository) throws(GitError) -> Bool {
        if let last {
            guard repository.contains(last), try repository.isAncestor(last, of: tip) else { return false }
        }
        let excluded = last.map { [$0] } ?? []
        let ids = try repository.walk(from: tip, excluding: excluded, limit: nil, firstParent: false)
        for id in ids.reversed() where places[id] == nil {
            let parents = try repository.parents(of: id)
            let known = parents.compactMap { places[$0] }
            // A walk that skips a commit, which wrong dates may cause, gives no complete history.
            guard known.count == parents.count || last == nil else { return false }
            places[id] = history.count
            history.append(Line(id: id, parents: known))
            reads += 1
        }
        return history.last?.id == tip
    }

    /// Keeps only the history of one commit.
    private mutating func cut(to tip: Int) {
        var isIn = [Bool](repeating: false, count: tip + 1)
        isIn[tip] = true
        for place in stride(from: tip, through: 0, by: -1) where isIn[place] {
            for parent in history[place].parents { isIn[parent] = true }
        }
        var moved = [Int](repeating: 0, count: tip + 1)
        var lines: [Line] = []
        for place in 0...tip where isIn[place] {
            moved[place] = lines.count
            lines.append(Line(id: history[place].id, parents: history[place].parents.map { moved[$0] }))
        }
        let reads = reads
        self = KnownCommits(history: lines, own: Array(own.values))
        (self.reads, isCut) = (reads, true)
    }

    /// The commits of these heads that are not in ``history``, parents before children. Heads whose history is not
    /// completely known are left out.
    func own(of heads: [OID]) -> [OwnCommit] {
        var ordered: [OwnCommit] = []
        var (seen, done): (Set<OID>, Set<OID>) = ([], [])
        for head in heads {
            var open: [(id: OID, isDone: Bool)] = [(head, false)]
            while let (id, isDone) = open.popLast() {
                guard places[id] == nil, let commit = own[id] else { continue }
                if isDone {
                    guard commit.parents.allSatisfy({ places[$0] != nil || done.contains($0) }) else { continue }
                    done.insert(id)
                    ordered.append(commit)
                } else if seen.insert(id).inserted {
                    open.append((id, true))
                    open += commit.parents.map { ($0, false) }
                }
            }
        }
        return ordered
    }
}

/// A commit of a change, with the facts by which it is compared with other commits.
struct OwnCommit: Equatable {
    var id: OID
    var parents: [OID]
    var maker: Maker

    init(id: OID, parents: [OID], maker: Maker) { (self.id, self.parents, self.maker) = (id, parents, maker) }

    init(_ commit: Commit) { self.init(id: commit.id, parents: commit.parents, maker: Maker(commit)) }
}
