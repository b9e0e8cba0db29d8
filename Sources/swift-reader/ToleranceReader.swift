import SwiftSyntax
import TestIntegrity

/// Finds numbers that bound a deviation or a duration.
final class ToleranceReader: SyntaxVisitor {
    private let file: ParsedFile
    private var found: [BodyShape.Tolerance] = []

    private static let labels: Set<String> = [
        "accuracy", "tolerance", "absoluteTolerance", "relativeTolerance", "within", "timeout", "timeLimit",
        "precision", "perceptualPrecision", "epsilon", "delta", "deadline", "retries", "maxRetries", "attempts",
    ]

    private init(_ file: ParsedFile) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    static func tolerances(in nodes: [Syntax], of file: ParsedFile) -> [BodyShape.Tolerance] {
        let reader = ToleranceReader(file)
        nodes.forEach(reader.walk)
        return reader.found
    }

    override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
        if let label = node.label { add(label, node.expression) }
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if let member = node.calledExpression.as(MemberAccessExprSyntax.self),
            member.declName.baseName.text == "timeLimit", let first = node.arguments.first
        {
            add(member.declName.baseName, first.expression)
        }
        return .visitChildren
    }

    private func add(_ label: TokenSyntax, _ expression: ExprSyntax) {
        let name = label.plainText
        guard Self.labels.contains(name), var value = Self.number(expression) else { return }
        // A precision is stricter the nearer it is to one.
        if name.lowercased().hasSuffix("precision") { value = 1 - value }
        value = min(max(value, -Double.greatestFiniteMagnitude), .greatestFiniteMagnitude)
        found.append(BodyShape.Tolerance(label: name, value: value, line: file.line(label)))
    }

    private static func number(_ expression: ExprSyntax) -> Double? {
        switch expression.as(ExprSyntaxEnum.self) {
        case .integerLiteralExpr(let literal): return Double(literal.literal.text.filter { $0 != "_" })
        case .floatLiteralExpr(let literal): return Double(literal.literal.text.filter { $0 != "_" })
        case .functionCallExpr(let call):
            guard let first = call.arguments.first, call.calledExpression.is(MemberAccessExprSyntax.self) else {
                return nil
            }
            return number(first.expression).map { $0 * unit(call.calleeName) }
        default: return nil
        }
    }

    private static func unit(_ name: String?) -> Double {
        switch name {
        case "minutes": 60
        case "hours": 3_600
        case "milliseconds": 0.001
        case "microseconds": 0.000_001
        case "nanoseconds": 0.000_000_001
        default: 1
        }
    }
}
