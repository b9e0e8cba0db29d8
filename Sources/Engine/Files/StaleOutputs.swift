import Foundation
import Pipeline

/// What lies where the outputs of a proved step go, and goes unless it is one of them.
///
/// That is what earlier runs have left there, and what steps that it needs have made, which it may have removed. What is
/// the repository's stays, for it is among the outputs; and so does everything in places of steps that may go on at the
/// same time.
struct StaleOutputs {
    /// Where the step's outputs go.
    let places: [Glob]
    private let needed: [Glob]
    private let others: [Glob]
    private let tracked: Set<String>
    private let begunAt: Date

    /// - Parameters:
    ///   - tracked: Files of the repository in those places.
    ///   - begunAt: When the run began: what was changed before is of no step of it.
    init(before step: PlannedStep, in plan: Plan, tracked: [String], begunAt: Date) {
        func globs(_ steps: some Sequence<PlannedStep>) -> [Glob] {
            steps.flatMap(\.outputs).compactMap { try? Glob($0) }
        }
        let (own, later) = (plan.needs(of: step.name), plan.dependants(of: step.name))
        places = globs([step])
        needed = globs(plan.steps.filter { $0.name != step.name && own.contains($0.name) })
        others = globs(plan.steps.filter { !own.contains($0.name) && !later.contains($0.name) })
        self.tracked = Set(tracked)
        self.begunAt = begunAt
    }

    /// Whether what is at a path, or was before it was emptied, has to go.
    ///
    /// - Parameter changedAt: When the file or folder was changed last, by the time that no step can set.
    func contains(_ path: String, changedAt: Date) -> Bool {
        guard places.contains(where: { $0.matches(path) }), !tracked.contains(path),
            !others.contains(where: { $0.matches(path) })
        else { return false }
        return changedAt < begunAt || needed.contains { $0.matches(path) }
    }
}

extension Plan {
    /// The names of a step, of those that it needs, and of those that these need.
    func needs(of name: String) -> Set<String> {
        let steps = Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var found: Set<String> = []
        var waiting = [name]
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += steps[name]?.needs ?? [] }
        }
        return found
    }

    /// The names of the steps that need this one, and of those that need these.
    func dependants(of name: String) -> Set<String> {
        var direct: [String: [String]] = [:]
        for step in steps { for need in step.needs { direct[need, default: []].append(step.name) } }
        var found: Set<String> = []
        var waiting = direct[name] ?? []
        while let name = waiting.popLast() {
            if found.insert(name).inserted { waiting += direct[name] ?? [] }
        }
        return found
    }
}
