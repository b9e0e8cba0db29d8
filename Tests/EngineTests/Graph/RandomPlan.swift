import Pipeline

/// A generator that gives the same numbers for the same seed, so that a failure can be looked at again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: some BinaryInteger) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 }

    /// SplitMix64, https://prng.di.unimi.it/splitmix64.c
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension Plan {
    /// A valid plan: each step needs some of those before it, and then the steps are shuffled.
    static func random(steps count: Int, with generator: inout SeededGenerator, conditions: Bool = true) -> Plan {
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
