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
        var open = Set(new.indices)
        var left: [Int] = []
        // Match by name and place first, then by name, then by name without its style.
        let keys: [(TestShape) -> String] = [
            { "\($0.file)\0\($0.suite)\0\($0.name)" }, { "\($0.suite)\0\($0.name)" },
            { "\($0.suite.split(separator: ".").last ?? "")\0\($0.plainName)" }, { $0.plainName },
        ]
        var waiting = Array(old.indices)
        for key in keys {
            var places: [String: [Int]] = [:]
            for index in open.sorted(by: >) { places[key(new[index]), default: []].append(index) }
            left = []
            for index in waiting {
                guard var candidates = places[key(old[index])], !candidates.isEmpty else {
                    left.append(index)
                    continue
                }
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
                open.remove(chosen)
            }
            waiting = left
        }
        let fresh = open.sorted()
        if waiting.count <= Self.limit, fresh.count <= Self.limit {
            let names = Dictionary(uniqueKeysWithValues: waiting.map { ($0, old[$0].nameWords) })
            let freshNames = Dictionary(uniqueKeysWithValues: fresh.map { ($0, new[$0].nameWords) })
            var scored: [(score: Double, old: Int, new: Int)] = []
            for one in waiting {
                for other in fresh {
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
            var taken: Set<Int> = []
            for candidate in scored where open.contains(candidate.new) && taken.insert(candidate.old).inserted {
                pairs.append((candidate.old, candidate.new))
                open.remove(candidate.new)
            }
            waiting.removeAll { taken.contains($0) }
        }
        gone = waiting
        added = open.sorted()
    }
}
