import Pipeline

/// Which steps of a plan need which, by their indices.
struct StepLinks {
    let needs: [[Int]]
    let dependants: [[Int]]

    init(_ plan: Plan) {
        let index = Dictionary(plan.steps.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        // A need that is listed twice counts once.
        needs = plan.steps.map { step in Array(Set(step.needs.compactMap { index[$0] })).sorted() }
        var dependants: [[Int]] = Array(repeating: [], count: plan.steps.count)
        for (step, wanted) in needs.enumerated() { for need in wanted { dependants[need].append(step) } }
        self.dependants = dependants
    }

    /// For each step, whether it is one of `starts` or needs one of them, directly or not.
    func reached(from starts: [Int]) -> [Bool] {
        var reached = Array(repeating: false, count: needs.count)
        for step in starts { reached[step] = true }
        var waiting = starts
        while let step = waiting.popLast() {
            for dependant in dependants[step] where !reached[dependant] {
                reached[dependant] = true
                waiting.append(dependant)
            }
        }
        return reached
    }

    /// The steps so that each comes after those that it needs; nil if the needs form a cycle.
    var sorted: [Int]? {
        var open = needs.map(\.count)
        var sorted = needs.indices.filter { open[$0] == 0 }
        var next = 0
        while next < sorted.count {
            for dependant in dependants[sorted[next]] {
                open[dependant] -= 1
                if open[dependant] == 0 { sorted.append(dependant) }
            }
            next += 1
        }
        return sorted.count == needs.count ? sorted : nil
    }
}
