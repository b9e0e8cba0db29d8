public import Results
public import Pipeline

/// The order in which ready steps start when there are fewer slots than steps.
///
/// A step ranks by its own reasons and by those of the steps that need it, since they can't fail before it has ended:
///
/// 1. it failed on this change before;
/// 2. what it tests was changed: its declared inputs, its working directory, or tests near the change that its command
///    names;
/// 3. it failed in the workflow's last runs;
/// 4. none of these: the longest path to the end of the plan, by measured times.
///
/// Within 1 to 3, the most likely failure per second comes first: (failures + 1) / (runs + 2), Laplace's rule, divided
/// by the median time until a failure. Ties keep the plan's order. The order does not affect other runs: runs are
/// served in the order of their arrival.
public struct StepOrder: Sendable, Equatable {
    /// The rank of each step of the plan: 0 starts first.
    public let places: [Int]

    /// - Parameters:
    ///   - plan: The plan; if it is not valid, all steps keep their order.
    ///   - nearTests: ``TestHistory/near``.
    public init(_ plan: Plan, history: StepHistory, changedFiles: [ChangedFile], nearTests: [KnownTest] = []) {
        let links = StepLinks(plan)
        guard let sorted = links.sorted else {
            places = Array(plan.steps.indices)
            return
        }
        let nearness = StepNearness(changedFiles: changedFiles, tests: nearTests)
        let known = history.steps.values.compactMap(\.seconds).sorted()
        // A step without history gets the median time of the others.
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
        // Steps that need a step are ranked before the step itself.
        for step in sorted.reversed() {
            for need in links.needs[step] {
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

    /// A possible failure: how likely it is, and how soon it is known.
    private struct Promise {
        var level: Int
        var chance: Double
        /// Time until the failure is known.
        var seconds: Double

        /// Nil if the step's failure is not expected, or would not count.
        init?(_ step: PlannedStep, _ record: StepHistory.Record, isNear: Bool, seconds: Double) {
            guard step.condition == .onSuccess, !step.allowsFailure, step.action.startsProcess else { return nil }
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
}
