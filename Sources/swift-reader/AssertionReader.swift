import SwiftSyntax
import TestIntegrity

/// Judges how precisely an assertion fixes a value, from its name and arguments.
enum AssertionReader {
    /// - Parameter isUsed: Whether the test uses the result.
    static func strength(of name: String, _ arguments: LabeledExprListSyntax, isUsed: Bool) -> Assertion.Strength {
        guard let first = arguments.first else { return name.hasPrefix("XCTAssert") ? .none : .condition }
        let second = arguments.dropFirst().first
        switch name {
        case "XCTAssertEqual", "XCTAssertIdentical":
            return second.map { isSame([first.expression], [$0.expression]) } == true ? .none : .value
        case "XCTAssertNil": return isLiteral(first.expression) ? .none : .value
        case "XCTAssertNotNil": return isLiteral(first.expression) ? .none : .presence
        case "XCTUnwrap", "XCTAssertNoThrow": return .presence
        case "XCTAssertTrue", "XCTAssert", "#expect", "#assert": return truth(of: first)
        case "XCTAssertFalse": return untruth(of: first.expression)
        case "#require":
            return isUsed && !hasComparison(arguments) ? .presence : truth(of: first)
        default: return .condition
        }
    }

    private static func truth(of argument: LabeledExprSyntax) -> Assertion.Strength {
        guard let label = argument.label?.text, label == "throws" || label == "performing" else {
            return truth(of: argument.expression)
        }
        let text = SourceWords.text(of: [Syntax(argument.expression)])
        if text.contains("Never.self") { return .presence }
        return text.contains("Error).self") || text.contains("Error.self") ? .condition : .value
    }

    private static func truth(of expression: ExprSyntax) -> Assertion.Strength {
        if let inner = expression.inBrackets { return truth(of: inner) }
        if let not = expression.as(PrefixOperatorExprSyntax.self), not.operator.text == "!" {
            return isLiteral(not.expression) ? .none : untruth(of: not.expression)
        }
        if let sequence = expression.as(SequenceExprSyntax.self) { return truth(of: Array(sequence.elements)[...]) }
        if isLiteral(expression) { return .none }
        if let call = expression.as(FunctionCallExprSyntax.self), call.calleeName == "Bool", call.arguments.count == 1,
            let only = call.arguments.first, isLiteral(only.expression)
        {
            return .none
        }
        // A Boolean property has one exact value; a call with arguments checks only a part of a value.
        return hasArguments(expression) ? .condition : .value
    }

    /// The strength of operands with operators between them.
    private static func truth(of elements: ArraySlice<ExprSyntax>) -> Assertion.Strength {
        if elements.count == 1, let only = elements.first { return truth(of: only) }
        guard let first = elements.first, let last = elements.last else { return .none }
        let operators = elements.compactMap { $0.as(BinaryOperatorExprSyntax.self)?.operator.text }
        if elements.count == 3, operators == ["??"], isLiteral(last) { return truth(of: first) }
        for (word, isEither) in [("||", true), ("&&", false)] where operators.contains(word) {
            let strengths = elements.split(at: word).map { truth(of: $0) }
            // With "or", one operand that always holds makes the whole hold. With "and", the strictest operand counts.
            if !isEither { return strengths.max() ?? .none }
            return strengths.contains(.none) ? .none : .condition
        }
        let place = elements.indices.first { index in
            elements[index].as(BinaryOperatorExprSyntax.self).map { comparisons.contains($0.operator.text) } ?? false
        }
        guard let place, let comparison = elements[place].as(BinaryOperatorExprSyntax.self)?.operator.text else {
            return .condition
        }
        let (left, right) = (Array(elements[..<place]), Array(elements[(place + 1)...]))
        if isSame(left, right) { return .none }
        switch comparison {
        case "==", "===": return .value
        case "!=", "!==": return right.count == 1 && right[0].is(NilLiteralExprSyntax.self) ? .presence : .condition
        // A count can't be negative.
        case ">=": return right.count == 1 && right[0].trimmedDescription == "0" ? .none : .condition
        default: return .condition
        }
    }

    /// The strength of a negation: "not equal" is weaker than "equal", and its negation stronger.
    private static func untruth(of expression: ExprSyntax) -> Assertion.Strength {
        if let inner = expression.inBrackets { return untruth(of: inner) }
        let whole = truth(of: expression)
        guard whole != .none, let sequence = expression.as(SequenceExprSyntax.self) else { return whole }
        switch sequence.elements.compactMap({ $0.as(BinaryOperatorExprSyntax.self)?.operator.text }) {
        case ["=="], ["==="]: return .condition
        case ["!="], ["!=="]: return .value
        default: return whole
        }
    }

    private static let comparisons: Set<String> = ["==", "===", "!=", "!==", "<", ">", "<=", ">=", "~="]

    private static func hasComparison(_ arguments: LabeledExprListSyntax) -> Bool {
        arguments.tokens(viewMode: .sourceAccurate).contains { token in
            if case .binaryOperator(let name) = token.tokenKind { comparisons.contains(name) } else { false }
        }
    }

    /// Whether it contains a call, a tuple or another bracket. Interpolations in texts don't count.
    private static func hasArguments(_ expression: ExprSyntax) -> Bool {
        expression.tokens(viewMode: .sourceAccurate).contains { token in
            token.tokenKind == .leftParen && token.nextToken(viewMode: .sourceAccurate)?.tokenKind != .rightParen
                && token.parent?.is(ExpressionSegmentSyntax.self) != true
        }
    }

    /// Whether both sides have the same words, or both are literals. Neither tests any code.
    private static func isSame(_ one: [ExprSyntax], _ other: [ExprSyntax]) -> Bool {
        guard let first = one.first, let second = other.first else { return false }
        if one.count == 1, other.count == 1, isLiteral(first), isLiteral(second) { return true }
        let words = SourceWords.words(of: one.map { Syntax($0) })
        // A call may return another value each time, so comparing two equal calls does test something.
        return !words.contains("(") && words == SourceWords.words(of: other.map { Syntax($0) })
    }

    private static func isLiteral(_ expression: ExprSyntax) -> Bool {
        switch expression.as(ExprSyntaxEnum.self) {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr: true
        case .stringLiteralExpr(let text): !text.segments.contains { $0.is(ExpressionSegmentSyntax.self) }
        default: false
        }
    }
}

extension ExprSyntax {
    /// The expression inside a pair of brackets, unless it is a tuple of several elements.
    fileprivate var inBrackets: ExprSyntax? {
        guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1 else { return nil }
        return tuple.elements.first?.expression
    }
}
