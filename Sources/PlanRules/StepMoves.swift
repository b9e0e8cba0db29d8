package import Pipeline

/// Which steps of a plan may run on another machine than the rest of the run.
///
/// A step sees there the commit and what the steps before it have declared, and nothing else. So it may leave the run's
/// machine only if that is all that it could count on here, too.
package struct StepMoves: Sendable {
    /// By the name of a step that starts a process, why it stays, as the predicate of a sentence; nil for one that may
    /// leave.
    private var obstacles: [String: String?] = [:]

    package init(_ plan: Plan) {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let (needed, silent) = (Self.needed(plan, steps), Self.silent(plan, steps))
        for step in plan.steps where step.action.startsProcess {
            let obstacle: String? =
                if step.action == .closure {
                    "is Swift code of the workflow"
                } else if step.review != nil {
                    "is a review"
                } else if step.condition != .onSuccess {
                    "runs after failures, too, and finds what was left"
                } else if needed.contains(step.name), !step.declaresOutputs {
                    "does not say by .outputs(…) what it leaves for later steps"
                } else {
                    silent[step.name].map {
                        "needs \"\($0)\", which does not say by .outputs(…) what it leaves for later steps"
                    }
                }
            obstacles[step.name] = .some(obstacle)
        }
    }

    /// The steps whose files another step may find.
    private static func needed(_ plan: Plan, _ steps: [String: PlannedStep]) -> Set<String> {
        var found: Set<String> = []
        var waiting = plan.steps.filter(\.action.startsProcess).flatMap(\.needs)
        while let name = waiting.popLast() {
            guard found.insert(name).inserted, let step = steps[name], !step.action.startsProcess else { continue }
            // What it needs is found in its place.
            waiting += step.needs
        }
        return found
    }

    /// By step, a step before it that does not say what it leaves.
    private static func silent(_ plan: Plan, _ steps: [String: PlannedStep]) -> [String: String] {
        var found: [String: String] = [:]
        var done: Set<String> = []
        // The stack is explicit, because a plan may be a chain of thousands.
        for first in plan.steps {
            var stack = [first.name]
            var entered: Set<String> = []
            while let name = stack.last {
                guard !done.contains(name), let step = steps[name] else {
                    stack.removeLast()
                    continue
                }
                if entered.insert(name).inserted {
                    let open = step.needs.filter { !done.contains($0) && !entered.contains($0) && steps[$0] != nil }
                    stack += open
                    if !open.isEmpty { continue }
                }
                stack.removeLast()
                done.insert(name)
                found[name] =
                    step.needs.lazy.compactMap { need in
                        guard let needed = steps[need] else { return nil }
                        let isSilent = needed.action.startsProcess && needed.review == nil && !needed.declaresOutputs
                        return isSilent ? need : found[need]
                    }.first
            }
        }
        return found
    }

    /// Whether a step may leave the run's machine.
    package func mayMove(_ step: PlannedStep) -> Bool { obstacles[step.name] == .some(nil) }

    /// Why a step stays on the run's machine, as the predicate of a sentence; nil if it may leave.
    package func obstacle(to step: PlannedStep) -> String? { obstacles[step.name] ?? "starts no process" }

    /// The steps that stay on the run's machine.
    package func bound(in plan: Plan) -> [PlannedStep] {
        plan.steps.filter { $0.action.startsProcess && !mayMove($0) }
    }

    /// What the run's machine must offer: what the steps need that stay there. If all may leave, it is that of one step,
    /// of the first that fits the machine of the daemon if there is one.
    package func needs(of plan: Plan, fitsHere: (MachineNeeds) -> Bool) -> MachineNeeds {
        let bound = bound(in: plan)
        guard bound.isEmpty else {
            return bound.reduce(MachineNeeds()) { needs, step in step.machine.map(needs.and) ?? needs }
        }
        let all = plan.steps.filter(\.action.startsProcess).map { $0.machine ?? MachineNeeds() }
        return all.first(where: fitsHere) ?? all.first ?? MachineNeeds()
    }
}

extension PlannedStep {
    /// Whether it says what it leaves for later steps.
    fileprivate var declaresOutputs: Bool { !outputs.isEmpty || leavesNothing }
}

/// Checks that the steps that stay on one machine can be there together.
struct UsableTogether: PlanRule {
    static let name = "machine"

    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        let traits = Set(plan.steps.flatMap { $0.machine?.traits ?? [] })
        let contradictions = MachineTrait.exclusive.filter { $0.count(where: traits.contains) > 1 }
        guard !contradictions.isEmpty else { return }
        let moves = StepMoves(plan)
        let bound = moves.bound(in: plan)
        for group in contradictions {
            var first: (step: PlannedStep, trait: MachineTrait)?
            for step in bound {
                guard let trait = group.first(where: { step.machine?.traits.contains($0) == true }) else { continue }
                guard let other = first else {
                    first = (step, trait)
                    continue
                }
                guard other.trait != trait else { continue }
                report(
                    step.name,
                    "it must run on \(trait.name) and \"\(other.step.name)\" on \(other.trait.name), but both stay on the "
                        + "machine of the run: it \(moves.obstacle(to: step) ?? "does"); write .outputs(…), or .outputs() "
                        + "for a step that leaves nothing, or make two workflows")
            }
        }
    }
}
