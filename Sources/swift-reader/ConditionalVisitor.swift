import SwiftSyntax

/// Walks a tree and tracks the `#if` conditions around each node.
class ConditionalVisitor: SyntaxVisitor {
    /// One branch of an `#if`.
    struct Branch {
        /// The condition as written; of a later branch with the negated earlier ones: `(B)&&!(A)`.
        var condition: String
        /// Its value if it consists of constants; nil if it depends on the build.
        var value: Bool?
        /// Whether it is a later branch, not the first.
        var isAlternative: Bool
    }

    let file: ParsedFile
    private(set) var branches: [Branch] = []

    init(_ file: ParsedFile) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    /// Whether code here is never compiled.
    var isDead: Bool { branches.contains { $0.value == false } }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for (branch, clause) in Self.branches(of: node) {
            guard let elements = clause.elements else { continue }
            branches.append(branch)
            walk(elements)
            branches.removeLast()
        }
        return .skipChildren
    }

    static func branches(of node: IfConfigDeclSyntax) -> [(branch: Branch, clause: IfConfigClauseSyntax)] {
        var others: (condition: String, value: Bool?) = ("", true)
        return node.clauses.enumerated().map { place, clause in
            let own = clause.condition.map { ($0.trimmedDescription, Condition.value($0)) }
            let written = place > 0 ? own.map { "(\($0.0))" } : own?.0
            let parts = [written, others.condition.isEmpty ? nil : others.condition]
            let branch = Branch(
                condition: parts.compactMap { $0 }.joined(separator: "&&"),
                value: Condition.both(own.map(\.1) ?? true, others.value), isAlternative: place > 0)
            if let own {
                others.condition += (others.condition.isEmpty ? "" : "&&") + "!(\(own.0))"
                others.value = Condition.both(others.value, own.1.map { !$0 })
            }
            return (branch, clause)
        }
    }
}

/// Whether a condition of `#if` can hold, as far as it consists of constants.
///
/// SwiftIfConfig decides for one build. Here the build is unknown, so conditions that depend on it stay open.
enum Condition {
    /// True, false, or nil where it depends on the build: `os(Linux)`, `DEBUG`.
    static func value(_ condition: ExprSyntax) -> Bool? {
        if let literal = condition.as(BooleanLiteralExprSyntax.self) { return literal.literal.text == "true" }
        if let not = condition.as(PrefixOperatorExprSyntax.self), not.operator.text == "!" {
            return value(not.expression).map { !$0 }
        }
        if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return value(only.expression)
        }
        guard let sequence = condition.as(SequenceExprSyntax.self) else { return nil }
        let alternatives = sequence.operands(of: "||")
        if alternatives.count > 1 {
            return alternatives.map(value).reduce(false) { both($0.map(!), $1.map(!)).map(!) }
        }
        let parts = sequence.operands(of: "&&")
        return parts.count > 1 ? parts.map(value).reduce(true, both) : nil
    }

    private static func value(_ elements: ArraySlice<ExprSyntax>) -> Bool? {
        if elements.count == 1, let only = elements.first { return value(only) }
        let parts = elements.split(at: "&&")
        return parts.count > 1 ? parts.map(value).reduce(true, both) : nil
    }

    static func both(_ one: Bool?, _ other: Bool?) -> Bool? {
        if one == false || other == false { return false }
        return one == true && other == true ? true : nil
    }
}

extension SequenceExprSyntax {
    /// The operands between operators with this name.
    func operands(of name: String) -> [ArraySlice<ExprSyntax>] { Array(elements)[...].split(at: name) }
}

extension ArraySlice<ExprSyntax> {
    func split(at name: String) -> [ArraySlice<ExprSyntax>] {
        split(omittingEmptySubsequences: false) { $0.as(BinaryOperatorExprSyntax.self)?.operator.text == name }
    }
}
