import SwiftSyntax
import TestIntegrity

/// Finds the test targets of a `Package.swift`, as far as literals declare them.
final class ManifestReader: ConditionalVisitor {
    private var targets: [SwiftFileFacts.TestTarget] = []

    static func targets(of file: ParsedFile) -> [SwiftFileFacts.TestTarget] {
        let reader = ManifestReader(file)
        reader.walk(file.tree)
        return reader.targets
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard node.calleeName == "testTarget", !isDead else { return .visitChildren }
        var texts: [String: [String]] = [:]
        for argument in node.arguments {
            if let label = argument.label?.text { texts[label] = TextFinder.texts(in: argument.expression) }
        }
        guard let name = texts["name"]?.first else { return .visitChildren }
        let word = node.calledExpression.lastToken(viewMode: .sourceAccurate)
        var target = SwiftFileFacts.TestTarget(name: name, line: word.map { file.line($0) } ?? file.line(node))
        target.path = texts["path"]?.first
        target.exclude = texts["exclude"] ?? []
        target.sources = texts["sources"]
        targets.append(target)
        return .visitChildren
    }

    private final class TextFinder: SyntaxVisitor {
        private var texts: [String] = []

        static func texts(in node: some SyntaxProtocol) -> [String] {
            let finder = TextFinder(viewMode: .sourceAccurate)
            finder.walk(node)
            return finder.texts
        }

        override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
            texts.append(node.segments.trimmedDescription)
            return .skipChildren
        }
    }
}
