import TestBasics
import TestSupport
import Testing

/// An input broke a rule.
struct FuzzViolation: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Throws a ``FuzzViolation`` unless `holds`.
func demand(_ holds: Bool, _ rule: @autoclosure () -> String) throws {
    if !holds { throw FuzzViolation(rule()) }
}

/// A reader of untrusted bytes, with the rules that must hold for every input.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    /// Reads one input and throws if a rule does not hold. Other random choices use the generator.
    typealias Check = (FuzzInput, inout SplitMix64) async throws -> Void

    let name: String
    /// Initial inputs.
    let corpus: @Sendable () throws -> [[UInt8]]
    /// Keywords of the format.
    var words: [String] = []
    /// Whether values are also mutated as JSON.
    var isJSON = false
    /// The largest input, in bytes.
    var limit = 1 << 20
    /// Sets up the surroundings of the check, calls the loop with it, and cleans up.
    let scope: @Sendable (_ loop: (Check) async throws -> Void) async throws -> Void

    var testDescription: String { name }

    /// A target that only computes: its CPU time is limited and must be linear in the input.
    static func pure(
        _ name: String, words: [String] = [], isJSON: Bool = false, limit: Int = 1 << 20,
        corpus: @escaping @Sendable () throws -> [[UInt8]],
        check: @escaping @Sendable ([UInt8], inout SplitMix64) throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name: name, corpus: corpus, words: words, isJSON: isJSON, limit: limit) { loop in
            try await loop { input, random in try CPUBudget.hold(input, &random, check) }
        }
    }

    static let all: [FuzzTarget] =
        results + plans + patterns + [refs, merges] + logs + [report, archive, object] + sockets + processes
        + findings
        + agents
        + integrity
        + pages
        + signing
        + crashes
        + tasks
        + machines
        + [settingsFile]
}
