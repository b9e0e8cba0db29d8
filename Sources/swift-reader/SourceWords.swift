import SwiftSyntax

/// The words of a piece of source, without white space, comments and directives. A string literal is one word.
final class SourceWords: SyntaxVisitor {
    private struct Word {
        var text: String
        /// Whether it is a name, a keyword or a number: two of them need a space between them.
        var isName: Bool
    }

    private var words: [Word] = []
    private var bytes = 0
    private let byteLimit: Int
    private let wordLimit: Int

    private init(bytes byteLimit: Int, words wordLimit: Int) {
        self.byteLimit = byteLimit
        self.wordLimit = wordLimit
        super.init(viewMode: .sourceAccurate)
    }

    static func words(of nodes: [Syntax], limit: Int = .max) -> [String] {
        let collector = SourceWords(bytes: .max, words: limit)
        nodes.forEach(collector.walk)
        return collector.words.map(\.text)
    }

    /// The words joined, and cut at the limit.
    static func text(of nodes: [Syntax], limit: Int = 400) -> String {
        let collector = SourceWords(bytes: limit, words: .max)
        nodes.forEach(collector.walk)
        var text = ""
        var isName = false
        for word in collector.words {
            if isName, word.isName { text += " " }
            text += word.text
            isName = word.isName
            if text.utf8.count > limit { return String(text.prefix(limit)) + "…" }
        }
        return text
    }

    private var isFull: Bool { bytes > byteLimit || words.count >= wordLimit }

    private func add(_ text: String, isName: Bool = false) {
        guard !isFull else { return }
        words.append(Word(text: text, isName: isName))
        bytes += text.utf8.count
    }

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        guard !token.text.isEmpty else { return .skipChildren }
        switch token.tokenKind {
        case .identifier, .keyword, .wildcard, .dollarIdentifier, .integerLiteral, .floatLiteral:
            add(token.plainText, isName: true)
        default: add(token.text)
        }
        return .skipChildren
    }

    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(node.trimmedDescription)
        return .skipChildren
    }

    override func visit(_ node: RegexLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(node.trimmedDescription)
        return .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        guard !isFull else { return .skipChildren }
        add("#" + node.macroName.plainText, isName: false)
        for child in node.children(viewMode: .sourceAccurate).dropFirst(2) { walk(child) }
        return .skipChildren
    }

    override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
        if let elements = node.elements, !isFull { walk(elements) }
        return .skipChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        isFull ? .skipChildren : .visitChildren
    }

    override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
        isFull ? .skipChildren : .visitChildren
    }
}

extension TokenSyntax {
    /// The text without the backticks of a raw name.
    var plainText: String {
        text.hasPrefix("`") && text.hasSuffix("`") && text.utf8.count > 1 ? String(text.dropFirst().dropLast()) : text
    }
}

extension TypeSyntax {
    /// A type's name with the enclosing types, without generic arguments.
    var plainName: String {
        if let type = self.as(IdentifierTypeSyntax.self) { return type.name.plainText }
        if let type = self.as(MemberTypeSyntax.self) { return "\(type.baseType.plainName).\(type.name.plainText)" }
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.plainName }
        return trimmedDescription
    }

    /// The last part of the name.
    var lastName: String { plainName.split(separator: ".").last.map(String.init) ?? "" }
}

extension FunctionCallExprSyntax {
    /// The called name: `sleep` of `Task.sleep(for:)`.
    var calleeName: String? { calledExpression.lastName }

    /// `("later")`, or empty if the call has no brackets.
    var argumentText: String {
        let parts = [leftParen.map(Syntax.init), Syntax(arguments), rightParen.map(Syntax.init)]
        return SourceWords.text(of: parts.compactMap { $0 })
    }
}

extension ExprSyntax {
    /// The last name of an expression that is a name or a member.
    var lastName: String? {
        if let name = self.as(DeclReferenceExprSyntax.self) { return name.baseName.plainText }
        if let member = self.as(MemberAccessExprSyntax.self) { return member.declName.baseName.plainText }
        if let generic = self.as(GenericSpecializationExprSyntax.self) { return generic.expression.lastName }
        return nil
    }
}
