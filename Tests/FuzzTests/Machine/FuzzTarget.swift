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

/// Something that reads foreign bytes, with the rules that hold whatever they are.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    /// Reads one input; throws where a rule does not hold. What else it draws comes from the generator.
    typealias Check = (FuzzInput, inout SplitMix64) async throws -> Void

    let name: String
    /// Inputs to start from.
    let corpus: @Sendable () throws -> [[UInt8]]
    /// The format's own words.
    var words: [String] = []
    /// Whether values are changed as JSON, too.
    var isJSON = false
    /// Bytes of an input.
    var limit = 1 << 20
    /// Sets up what the check needs, calls the loop with it, and takes it down.
    let scope: @Sendable (_ loop: (Check) async throws -> Void) async throws -> Void

    var testDescription: String { name }

    /// A target that only computes: its CPU time is bounded, and is linear in the input.
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
        + [settingsFile]
}
