/// The known results of a test along a list of commits, and the commit to test next.
///
/// A value without process or clock. It searches for the newest place at which the test went from passing to failing.
/// Commits that can't be tested are skipped, and stay suspects if they are next to that place.
struct Bisection: Sendable {
    enum Standing: Sendable, Equatable {
        case good, bad
        /// Why, as the end of a sentence.
        case untestable(String)
    }

    enum Next: Sendable, Equatable {
        /// The index of the commit to test.
        case test(Int)
        /// The oldest failing commit, the newest passing one before it, and those between that can't be tested.
        case found(bad: Int, good: Int, suspects: [Int])
        /// The newest commit passes.
        case nothing
        /// Every commit that can be tested fails.
        case always(oldest: Int)
        /// The newest commit can't be tested, so there is no failure to explain.
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

    /// Goes back twice as far each time, since most breakages are recent.
    private func older(than bad: Int) -> Next {
        let wanted = min(max(bad * 2, 1), count - 1)
        let open = ((bad + 1)..<max(count, bad + 1)).filter { known[$0] == nil }
        guard let nearest = open.min(by: { abs($0 - wanted) < abs($1 - wanted) }) else { return .always(oldest: bad) }
        return .test(nearest)
    }
}
