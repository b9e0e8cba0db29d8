/// Why a text is not an amount.
public struct QuantityProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// The text does not begin with a plain number: it is missing, or has a sign or an exponent.
        case notANumber
        /// A number alone, where its unit would not be clear.
        case noUnit
        case unknownUnit
        /// More than any machine has, or ever waits for.
        case tooLarge
    }

    public var code: Code
    /// A sentence without the name of the setting: `"10" has no unit. Write 10s, 10m or 10h.`
    public var description: String
}

/// A number and what follows it, as `24h` is taken apart.
struct NumberAndUnit {
    var number: Double
    /// The digits as they were written, for messages.
    var digits: Substring
    var unit: Substring

    /// - Throws: ``QuantityProblem`` for a text that does not begin with a plain decimal number, or with a very long one.
    init(_ text: String) throws(QuantityProblem) {
        let shown = text.shortened(to: 40)
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard !digits.isEmpty, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw QuantityProblem(
                code: .notANumber, description: "\"\(shown)\" does not begin with a number like 10 or 1.5.")
        }
        // A Double holds 15 decimal digits exactly.
        guard digits.count <= 15, let number = Double(digits) else {
            throw QuantityProblem(code: .tooLarge, description: "\"\(shown)\" is too large.")
        }
        (self.number, self.digits, unit) = (number, digits, text[digits.endIndex...])
    }
}
