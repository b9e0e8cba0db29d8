package import Pipeline
package import TestBasics

extension Plan {
    /// A valid plan: each step needs some of those before it, and then the steps are shuffled.
    package static func random(steps count: Int, with generator: inout SplitMix64, conditions: Bool = true) -> Plan {
        let density = Int.random(in: 0...4, using: &generator)
        var steps: [PlannedStep] = []
        for number in 0..<count {
            var step = PlannedStep(name: "s\(number)", action: .command(["true"]))
            if number > 0 {
                for _ in 0..<Int.random(in: 0...density, using: &generator) {
                    step.needs.append("s\(Int.random(in: 0..<number, using: &generator))")
                }
            }
            if conditions {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: step.condition = .always
                case 1: step.condition = .onFailure
                default: break
                }
                step.allowsFailure = Int.random(in: 0..<5, using: &generator) == 0
            }
            steps.append(step)
        }
        steps.shuffle(using: &generator)
        return Plan(workflow: "random", failFast: Int.random(in: 0..<4, using: &generator) == 0, steps: steps)
    }
}
