/// Judges how much an assertion pins down, from its name and arguments.
struct AssertionReader {
    let words: SwiftWords
    private var tokens: [SwiftToken] { words.tokens }

    /// - Parameter isUsed: Whether the test goes on with what it returns.
    func strength(of name: String, _ arguments: Range<Int>, isUsed: Bool) -> Assertion.Strength {
        let parts = LiteralCounts.parts(of: arguments, words)
        guard let first = parts.first else { return name.hasPrefix("XCTAssert") ? .none : .condition }
        switch name {
        case "XCTAssertEqual", "XCTAssertIdentical":
            guard parts.count > 1 else { return .value }
            return isSame(first, parts[1]) ? .none : .value
        case "XCTAssertNil": return isLiteral(first) ? .none : .value
        case "XCTAssertNotNil": return isLiteral(first) ? .none : .presence
        case "XCTUnwrap", "XCTAssertNoThrow": return .presence
        case "XCTAssertTrue", "XCTAssert", "#expect", "#assert": return truth(of: first)
        case "XCTAssertFalse": return untruth(of: first)
        case "#require":
            let truth = truth(of: first)
            return isUsed && !arguments.contains { Self.comparisons.contains(tokens[$0].text) } ? .presence : truth
        default: return .condition
        }
    }

    private func truth(of range: Range<Int>) -> Assertion.Strength {
        guard let start = range.first else { return .none }
        if tokens[start].isWord("throws") || tokens[start].isWord("performing") {
            let rest = words.text(of: start...(range.upperBound - 1))
            if rest.contains("Never.self") { return .presence }
            return rest.contains("Error).self") || rest.contains("Error.self") ? .condition : .value
        }
        if tokens[start].isPunctuation("("), words.partner[start] == range.upperBound - 1 {
            return truth(of: (start + 1)..<(range.upperBound - 1))
        }
        if tokens[start].kind == .operator, tokens[start].text == "!", range.count > 1 {
            let inner = (start + 1)..<range.upperBound
            if isLiteral(inner) { return .none }
            return untruth(of: inner)
        }
        // Two operands have space around what joins them; `List<Int>` and `a?.b` have not.
        var operators = range.filter { isTop($0, from: start) && tokens[$0].kind == .operator && tokens[$0].isSpaced }
        if let fallback = operators.last, tokens[fallback].text == "??", operators.count == 1,
            isLiteral((fallback + 1)..<range.upperBound)
        {
            operators = []
            if start < fallback { return truth(of: start..<fallback) }
        }
        if let either = operators.first(where: { tokens[$0].text == "||" }) {
            let (left, right) = (truth(of: start..<either), truth(of: (either + 1)..<range.upperBound))
            return min(left, right) == .none ? .none : .condition
        }
        if let both = operators.first(where: { tokens[$0].text == "&&" }) {
            return max(truth(of: start..<both), truth(of: (both + 1)..<range.upperBound))
        }
        if let comparison = operators.first(where: { Self.comparisons.contains(tokens[$0].text) }) {
            let (left, right) = (start..<comparison, (comparison + 1)..<range.upperBound)
            if isSame(left, right) { return .none }
            let isNil = right.count == 1 && tokens[right.lowerBound].isWord("nil")
            switch tokens[comparison].text {
            case "==", "===": return .value
            case "!=", "!==": return isNil ? .presence : .condition
            // A count can't be negative.
            case ">=": return right.count == 1 && tokens[right.lowerBound].text == "0" ? .none : .condition
            default: return .condition
            }
        }
        if isLiteral(range) { return .none }
        // `Bool(true)`
        if tokens[start].isWord("Bool"), range.count == 4, isLiteral((start + 2)..<(start + 3)) { return .none }
        // A property that is true or false is pinned down; what a call with arguments finds is a part of a value.
        let hasArguments = range.contains { index in
            words.tokens[index].isPunctuation("(") && words.partner[index] > index + 1
        }
        return hasArguments || !operators.isEmpty ? .condition : .value
    }

    /// That something does not hold: "not equal" is less than "equal", and the other way round.
    private func untruth(of range: Range<Int>) -> Assertion.Strength {
        var range = range
        while let start = range.first, tokens[start].isPunctuation("("), words.partner[start] == range.upperBound - 1 {
            range = (start + 1)..<(range.upperBound - 1)
        }
        let whole = truth(of: range)
        let operators = range.filter { tokens[$0].kind == .operator && isTop($0, from: range.lowerBound) }.map {
            tokens[$0].text
        }
        guard whole != .none, operators.count == 1 else { return whole }
        switch operators[0] {
        case "==", "===": return .condition
        case "!=", "!==": return .value
        default: return whole
        }
    }

    private static let comparisons: Set<String> = ["==", "===", "!=", "!==", "<", ">", "<=", ">=", "~="]

    private func isTop(_ index: Int, from start: Int) -> Bool {
        var at = start
        while at < index { at = words.partner[at] > at ? words.partner[at] + 1 : at + 1 }
        return at == index
    }

    /// The same words, or two literals: neither asks the code anything.
    private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        if one.isEmpty || other.isEmpty { return false }
        if isLiteral(one) && isLiteral(other) { return true }
        // A call may give another value each time, and two equal ones are then worth a test.
        guard one.count == other.count, !one.contains(where: { tokens[$0].isPunctuation("(") }) else { return false }
        return zip(one, other).allSatisfy { tokens[$0].text == tokens[$1].text }
    }

    private func isLiteral(_ range: Range<Int>) -> Bool {
        guard range.count == 1 else { return false }
        let token = tokens[range.lowerBound]
        switch token.kind {
        case .number: return true
        case .string: return !token.text.contains("\\(")
        case .identifier: return ["true", "false", "nil"].contains(token.text)
        default: return false
        }
    }
}

extension Assertion {
    static func isMacro(_ name: String) -> Bool {
        name.hasPrefix("#expect") || name.hasPrefix("#require") || name.hasPrefix("#assert")
    }

    /// Assertions of XCTest, by their names.
    static func isFramework(_ name: String) -> Bool {
        name.hasPrefix("XCTAssert") || name == "XCTFail" || name == "XCTUnwrap"
    }

    /// Names of functions that assert, in the words that people use for them.
    static func isAsserting(_ name: String) -> Bool {
        let plain = name.lowercased()
        return ["assert", "expect", "verify", "require", "check", "validate", "ensure", "confirm"].contains {
            plain.hasPrefix($0)
        } && !["expectation", "checkedcontinuation", "requirement"].contains(plain)
            || name.hasPrefix("XCTAssert") || name.hasPrefix("AssertEqual")
    }
}
