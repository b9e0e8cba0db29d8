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

    /// Nobody writes a longer one by hand, and reading it costs more than its length.
    private static let wordLimit = 5_000

    private func truth(of range: Range<Int>) -> Assertion.Strength {
        guard let start = range.first else { return .none }
        guard range.count <= Self.wordLimit else { return .condition }
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
        let top = self.top(of: range)
        var operators = top.filter { tokens[$0].kind == .operator && tokens[$0].isSpaced }
        if let fallback = operators.last, tokens[fallback].text == "??", operators.count == 1,
            isLiteral((fallback + 1)..<range.upperBound)
        {
            operators = []
            if start < fallback { return truth(of: start..<fallback) }
        }
        for (word, isEither) in [("||", true), ("&&", false)] {
            let joints = operators.filter { tokens[$0].text == word }
            guard !joints.isEmpty else { continue }
            let ends = joints + [range.upperBound]
            let strengths = zip([start] + joints.map { $0 + 1 }, ends).map { $0 < $1 ? truth(of: $0..<$1) : .none }
            // One part that always holds makes the whole hold; of parts that must all hold the strictest counts.
            if !isEither { return strengths.max() ?? .none }
            return strengths.contains(.none) ? .none : .condition
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
        let operators = top(of: range).filter { tokens[$0].kind == .operator }.map { tokens[$0].text }
        guard whole != .none, operators.count == 1 else { return whole }
        switch operators[0] {
        case "==", "===": return .condition
        case "!=", "!==": return .value
        default: return whole
        }
    }

    private static let comparisons: Set<String> = ["==", "===", "!=", "!==", "<", ">", "<=", ">=", "~="]

    /// The words that stand in no bracket of the range.
    private func top(of range: Range<Int>) -> [Int] {
        var top: [Int] = []
        var at = range.lowerBound
        while at < range.upperBound {
            top.append(at)
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        return top
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
