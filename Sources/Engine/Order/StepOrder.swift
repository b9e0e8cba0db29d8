public import Results
public import Pipeline

/// Which of the steps that may start at once is started first, where there are fewer slots than steps.
///
/// A step's own reasons count, and those of the steps that wait for it, since they can't fail before it has ended:
///
/// 1. it failed on this change before;
/// 2. what it tests was changed: its declared inputs, its working directory, or tests near the change that its command
///    names;
/// 3. it has failed in the workflow's last runs;
/// 4. nothing of this: the longest path to the end of the plan, by measured times.
///
/// Within 1 to 3, the most likely failure per second comes first: (failures + 1) / (runs + 2), Laplace's rule, by the
/// median of the times up to the failure. The plan's order decides what is left. Steps of other runs are not
/// concerned: runs are served as they come.
public struct StepOrder: Sendable, Equatable {
    /// For each step of the plan, its place among all: 0 is first.
    public let places: [Int]

    /// - Parameters:
    ///   - plan: Valid; in another one all steps keep their places.
    ///   - nearTests: ``TestHistory/near``.
    public init(_ plan: Plan, history: StepHistory, changedFiles: [ChangedFile], nearTests: [KnownTest] = []) {
        let index = Dictionary(plan.steps.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let needs = plan.steps.map { step in Array(Set(step.needs.compactMap { index[$0] })) }
        guard let sorted = StepOrder.topological(needs) else {
            places = Array(plan.steps.indices)
            return
        }
        let nearness = StepNearness(changedFiles: changedFiles, tests: nearTests)
        let known = history.steps.values.compactMap(\.seconds).sorted()
        // Of a step that never ran, nothing better is known than what is usual here.
        let usual = known.isEmpty ? 1 : known[known.count / 2]
        var promises: [Promise?] = []
        var remaining: [Double] = []
        for step in plan.steps {
            let record = history.steps[step.name] ?? StepHistory.Record()
            let seconds = max(record.seconds ?? usual, 0.001)
            remaining.append(seconds)
            promises.append(Promise(step, record, isNear: nearness.isNear(step), seconds: seconds))
        }
        let own = remaining
        // What follows a step is settled before the step itself.
        for step in sorted.reversed() {
            for need in needs[step] {
                remaining[need] = max(remaining[need], own[need] + remaining[step])
                guard let later = promises[step]?.after(own[need]) else { continue }
                if promises[need].map({ later.isBetter(than: $0) }) ?? true { promises[need] = later }
            }
        }
        let ranked = plan.steps.indices.sorted { one, other in
            switch (promises[one], promises[other]) {
            case (let a?, let b?) where a.isBetter(than: b): return true
            case (let a?, let b?) where b.isBetter(than: a): return false
            case (.some, nil): return true
            case (nil, .some): return false
            default: return remaining[one] != remaining[other] ? remaining[one] > remaining[other] : one < other
            }
        }
        var places = Array(repeating: 0, count: ranked.count)
        for (place, step) in ranked.enumerated() { places[step] = place }
        self.places = places
    }

    /// A failure that may come, and how soon.
    private struct Promise {
        var level: Int
        var chance: Double
        /// Until it is known.
        var seconds: Double

        /// Nil for a step whose failure is not expected, or would not count.
        init?(_ step: PlannedStep, _ record: StepHistory.Record, isNear: Bool, seconds: Double) {
            guard step.condition == .onSuccess, !step.allowsFailure, step.action != .approval else { return nil }
            if record.failedOnChange {
                level = 1
            } else if isNear {
                level = 2
            } else if record.failures > 0 {
                level = 3
            } else {
                return nil
            }
            chance = Double(record.failures + 1) / Double(record.runs + 2)
            self.seconds = seconds
        }

        func after(_ pause: Double) -> Promise {
            var later = self
            later.seconds += pause
            return later
        }

        func isBetter(than other: Promise) -> Bool {
            level != other.level ? level < other.level : chance / seconds > other.chance / other.seconds
        }
    }

    /// Steps behind those that they need; nil when that is a circle.
    private static func topological(_ needs: [[Int]]) -> [Int]? {
        var open = needs.map(\.count)
        var dependants: [[Int]] = Array(repeating: [], count: needs.count)
        for (step, wanted) in needs.enumerated() { for need in wanted { dependants[need].append(step) } }
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
