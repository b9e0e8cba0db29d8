import Foundation
package import Testing

/// The step of pipectl that runs these tests.
package enum OuterStep {
    /// Whether there is one. Its limits hold for the tests too, for example for how deep folders may be nested.
    package static let isThere = ProcessInfo.processInfo.environment["PIPECTL_STEP"] != nil
}

extension Trait where Self == ConditionTrait {
    /// Skips a test in a step of pipectl: its attempts would take that step's own home and limits for the machine's.
    package static var outsideOfSteps: Self {
        .disabled(if: OuterStep.isThere, "A step's home and limits are not the machine's.")
    }
}
