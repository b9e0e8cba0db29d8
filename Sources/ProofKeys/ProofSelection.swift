public import Pipeline

/// Decides what happens with each proved step of a plan: it is skipped, only its outputs are restored, or it is run.
public enum ProofSelection {
    /// What happens with one proved step.
    public enum Use: Sendable, Equatable {
        /// It is skipped: no step that runs needs its outputs.
        case cite
        /// Its outputs are restored, because a step that runs needs them.
        case restore
        /// It is run although it is proved: a step that runs needs its outputs, and they are not stored.
        case run
    }

    /// - Parameters:
    ///   - proved: Steps that have a proof and are not to be run as a sample.
    ///   - restorable: Those of them whose outputs are all available.
    /// - Returns: One decision for each step in `proved`.
    public static func make(_ plan: Plan, proved: Set<String>, restorable: Set<String>) -> [String: Use] {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // A step without a process uses no files of the workspace, and a step for failures does not run if nothing fails.
        var waiting = plan.steps.filter {
            !proved.contains($0.name) && $0.action.startsProcess && $0.condition != .onFailure
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
