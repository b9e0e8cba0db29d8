/// Matches the tests of the change with those of the target.
struct TestMatching: Sendable {
    /// Pairs of indices into the two lists.
    private(set) var pairs: [(old: Int, new: Int)] = []
    private(set) var gone: [Int] = []
    private(set) var added: [Int] = []

    /// The least similarity of two bodies to be one test with two names.
    static let likeness = 0.6
    /// The least similarity if the names also have the same words.
    static let likenessBesideName = 0.3
    /// The most unmatched tests on a side that are compared with one another, since the cost is quadratic.
    static let limit = 500

    init(_ old: [TestShape], _ new: [TestShape]) {
        gone = Array(old.indices)
        added = Array(new.indices)
        // Match by name and place first, then by name, then by name without its style.
        let keys: [(TestShape) -> String] = [
            { "\($0.file)\0\($0.suite)\0\($0.name)" }, { "\($0.suite)\0\($0.name)" },
            { "\($0.suite.split(separator: ".").last ?? "")\0\($0.plainName)" }, { $0.plainName },
        ]
        for key in keys { match(old, new, by: key) }
        if gone.count <= Self.limit, added.count <= Self.limit { matchByLikeness(old, new) }
    }

    /// Matches the tests that are left and have the same key.
    private mutating func match(_ old: [TestShape], _ new: [TestShape], by key: (TestShape) -> String) {
        var places: [String: [Int]] = [:]
        for index in added.reversed() { places[key(new[index]), default: []].append(index) }
        var taken: Set<Int> = []
        gone.removeAll { index in
            guard var candidates = places[key(old[index])], !candidates.isEmpty else { return false }
            // Of several with one name (branches of `#if`), take the most similar one.
            let best =
                candidates.count > 16
                ? candidates.count - 1
                : candidates.indices.max {
                    old[index].words.similarity(to: new[candidates[$0]].words)
                        < old[index].words.similarity(to: new[candidates[$1]].words)
                } ?? 0
            let chosen = candidates.remove(at: best)
            places[key(old[index])] = candidates
            pairs.append((index, chosen))
            taken.insert(chosen)
            return true
        }
        added.removeAll { taken.contains($0) }
    }

    /// Matches the tests that are left with the ones that are most like them.
    private mutating func matchByLikeness(_ old: [TestShape], _ new: [TestShape]) {
        let names = Dictionary(uniqueKeysWithValues: gone.map { ($0, old[$0].nameWords) })
        let freshNames = Dictionary(uniqueKeysWithValues: added.map { ($0, new[$0].nameWords) })
        var scored: [(score: Double, old: Int, new: Int)] = []
        for one in gone {
            for other in added {
                let score = old[one].words.similarity(to: new[other].words)
                guard score >= Self.likenessBesideName else { continue }
                let (mine, yours) = (names[one] ?? [], freshNames[other] ?? [])
                let shared = Double(mine.intersection(yours).count) / Double(max(1, max(mine.count, yours.count)))
                let isPrefix = old[one].plainName.hasPrefix(new[other].plainName)
                if score >= Self.likeness || shared >= 0.5 || isPrefix {
                    scored.append((score + shared, one, other))
                }
            }
        }
        scored.sort { ($1.score, $0.old, $0.new) < ($0.score, $1.old, $1.new) }
        var (matched, taken): (Set<Int>, Set<Int>) = ([], [])
        for candidate in scored where !taken.contains(candidate.new) && matched.insert(candidate.old).inserted {
            pairs.append((candidate.old, candidate.new))
            taken.insert(candidate.new)
        }
        gone.removeAll { matched.contains($0) }
        added.removeAll { taken.contains($0) }
    }
}
