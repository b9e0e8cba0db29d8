import SwiftSyntax
import TestIntegrity

/// Counts the elements of literal collections, for the rounds of a loop and the cases of a test with arguments.
struct LiteralCounts {
    /// A named value, `let cases = [1, 2, 3]`.
    struct Named {
        /// The number of elements, if it is a literal collection.
        var count: Int?
        var value: ExprSyntax
    }

    /// The file's named values; the last one if several have the same name.
    private(set) var named: [String: Named] = [:]

    init(of file: ParsedFile) {
        let finder = BindingFinder(viewMode: .sourceAccurate)
        finder.walk(file.tree)
        for (name, value) in finder.found { named[name] = Named(count: count(of: value), value: value) }
    }

    private final class BindingFinder: SyntaxVisitor {
        var found: [(name: String, value: ExprSyntax)] = []

        override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
            if let name = node.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
                let value = node.initializer?.value
            {
                found.append((name, value))
            }
            return .visitChildren
        }
    }

    /// The number of elements of a collection; nil if no literal gives it.
    func count(of expression: ExprSyntax) -> Int? {
        switch expression.as(ExprSyntaxEnum.self) {
        case .tupleExpr(let tuple) where tuple.elements.count == 1:
            return tuple.elements.first.flatMap { count(of: $0.expression) }
        case .arrayExpr(let array): return min(SwiftFileFacts.countLimit, array.elements.count)
        case .dictionaryExpr(let dictionary):
            guard case .elements(let elements) = dictionary.content else { return 0 }
            return min(SwiftFileFacts.countLimit, elements.count)
        case .declReferenceExpr(let name): return named[name.baseName.plainText]?.count
        case .memberAccessExpr(let member):
            guard let base = member.base else { return nil }
            if let name = base.as(DeclReferenceExprSyntax.self), ["Self", "self"].contains(name.baseName.text) {
                return named[member.declName.baseName.plainText]?.count
            }
            // `[…].lazy` has the same number; a call with arguments may change it.
            return base.is(ArrayExprSyntax.self) ? count(of: base) : nil
        case .functionCallExpr(let call):
            guard call.arguments.isEmpty, call.trailingClosure == nil,
                let member = call.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base,
                ["enumerated", "shuffled", "reversed", "sorted"].contains(member.declName.baseName.text)
            else { return nil }
            return count(of: base)
        case .sequenceExpr(let sequence): return count(of: Array(sequence.elements))
        default: return nil
        }
    }

    /// For `0..<9` and `[…] as [T]`.
    private func count(of elements: [ExprSyntax]) -> Int? {
        guard elements.count == 3 else { return nil }
        if elements[1].is(UnresolvedAsExprSyntax.self), elements[0].is(ArrayExprSyntax.self) {
            return count(of: elements[0])
        }
        guard let dots = elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text, ["...", "..<"].contains(dots),
            let from = Self.integer(elements[0]), let to = Self.integer(elements[2])
        else { return nil }
        let (length, isTooLarge) = to.subtractingReportingOverflow(from)
        guard !isTooLarge, length >= 0 else { return nil }
        return min(SwiftFileFacts.countLimit, dots == "..." && length < Int.max ? length + 1 : length)
    }

    private static func integer(_ expression: ExprSyntax) -> Int? {
        expression.as(IntegerLiteralExprSyntax.self).flatMap { Int($0.literal.text.filter { $0 != "_" }) }
    }

    /// The number of cases of `@Test(…, arguments: …)`: all pairs of two collections, or the pairs of a `zip`.
    func cases(in arguments: [LabeledExprSyntax]) -> Int? {
        let given = arguments.drop { $0.label?.text != "arguments" }
        guard !given.isEmpty else { return nil }
        var cases = 1
        for argument in given {
            if let zip = argument.expression.as(FunctionCallExprSyntax.self), zip.calleeName == "zip" {
                let counts = zip.arguments.compactMap { count(of: $0.expression) }
                guard let least = counts.min() else { return nil }
                cases = min(SwiftFileFacts.countLimit, cases * least)
                continue
            }
            guard let count = count(of: argument.expression) else { return nil }
            cases = min(SwiftFileFacts.countLimit, cases * count)
        }
        return cases
    }
}
