/// Where a test broke on one line of commits, as far as it is known, and which commit is worth testing next.
///
/// A value without process or clock. The newest place where the test went from passing to failing is looked for; commits
/// that can't be tested are gone around, and remain suspects where they lie beside it.
struct Bisection: Sendable {
    enum Standing: Sendable, Equatable {
        case good, bad
        /// Why, as the end of a sentence.
        case untestable(String)
    }

    enum Next: Sendable, Equatable {
        /// The place in the line of the commit to be tested.
        case test(Int)
        /// The oldest commit that fails, the newest before it that passes, and those between that can't be tested.
        case found(bad: Int, good: Int, suspects: [Int])
        /// The newest commit passes.
        case nothing
        /// Every commit of the line that can be tested fails.
        case always(oldest: Int)
        /// The newest commit can't be tested, so there is nothing to find the cause of.
        case unknown(String)
    }

    /// Newest first.
    let count: Int
    private(set) var known: [Int: Standing] = [:]

    init(count: Int) { self.count = count }

    mutating func note(_ standing: Standing, at place: Int) { known[place] = standing }

    var next: Next {
        switch known[0] {
        case nil: return .test(0)
        case .good: return .nothing
        case .untestable(let why): return .unknown(why)
        case .bad: break
        }
        let firstGood = (0..<count).first { known[$0] == .good }
        let bad = (0..<(firstGood ?? count)).last { known[$0] == .bad } ?? 0
        guard let good = firstGood else { return older(than: bad) }
        let open = ((bad + 1)..<good).filter { known[$0] == nil }
        let middle = (bad + good) / 2
        if let nearest = open.min(by: { abs($0 - middle) < abs($1 - middle) }) { return .test(nearest) }
        return .found(bad: bad, good: good, suspects: Array((bad + 1)..<good))
    }

    /// Twice as far back each time, since most breakages are young.
    private func older(than bad: Int) -> Next {
        let wanted = min(max(bad * 2, 1), count - 1)
        let open = ((bad + 1)..<max(count, bad + 1)).filter { known[$0] == nil }
        guard let nearest = open.min(by: { abs($0 - wanted) < abs($1 - wanted) }) else { return .always(oldest: bad) }
        return .test(nearest)
    }
}
