public import Pipeline

/// What becomes of each proved step of a plan: not run at all, only its outputs put in place, or run after all.
public enum ProofSelection {
    public enum Use: Sendable, Equatable {
        /// Nothing of it is done: no step that runs needs what it makes.
        case cite
        /// What it made is put in place, because a step that runs needs it.
        case restore
        /// It is run although it is proved: a step that runs needs what it makes, and that was not kept.
        case run
    }

    /// - Parameters:
    ///   - proved: Steps that have a proof and are not to be run as a sample.
    ///   - restorable: Those of which all that they make is at hand.
    /// - Returns: One for each of `proved`.
    public static func make(_ plan: Plan, proved: Set<String>, restorable: Set<String>) -> [String: Use] {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // A gate uses nothing of the workspace, and a step for failures is not run where nothing fails.
        var waiting = plan.steps.filter {
            !proved.contains($0.name) && $0.action != .approval && $0.condition != .onFailure
        }.flatMap(\.needs)
        var needed: Set<String> = []
        while let name = waiting.popLast() {
            guard needed.insert(name).inserted, let step = steps[name] else { continue }
            waiting += step.needs
        }
        var uses: [String: Use] = [:]
        for step in plan.steps where proved.contains(step.name) {
            if !needed.contains(step.name) || step.leavesNothing && step.publishes.isEmpty {
                uses[step.name] = .cite
            } else {
                uses[step.name] = restorable.contains(step.name) ? .restore : .run
            }
        }
        return uses
    }
}
