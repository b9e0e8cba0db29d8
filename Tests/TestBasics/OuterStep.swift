import Foundation

/// The step of pipectl that runs these tests.
package enum OuterStep {
    /// Whether there is one. Its limits hold for the tests too, for example for how deep folders may be nested.
    package static let isThere = ProcessInfo.processInfo.environment["PIPECTL_STEP"] != nil
}
