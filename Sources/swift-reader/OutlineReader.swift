import SwiftSyntax
import TestIntegrity

/// Finds declarations that may affect tests in other files: names that shadow the framework's, classes, their bases,
/// and members that keep tests from running.
final class OutlineReader: ConditionalVisitor {
    private var declarations: [SwiftFileFacts.Declaration] = []
    private var parts: [SwiftFileFacts.ClassPart] = []
    /// The types around the current node, as indices into ``parts``.
    private var types: [Int] = []
    /// The number of enclosing bodies and types.
    private var depth = 0
    /// The number of enclosing bodies of functions and closures, inside the innermost type.
    private var bodies = 0

    static func read(_ file: ParsedFile, into facts: inout SwiftFileFacts) {
        let reader = OutlineReader(file)
        reader.walk(file.tree)
        facts.declarations = reader.declarations
        facts.classes = reader.parts.filter { !$0.bases.isEmpty || !$0.skips.isEmpty }
    }

    private func add(_ kind: String, _ token: TokenSyntax) {
        let name = token.plainText
        guard !isDead, ShadowedNames.isWatched(name) else { return }
        declarations.append(
            SwiftFileFacts.Declaration(kind: kind, name: name, line: file.line(token), isTopLevel: depth == 0))
    }

    // MARK: Types

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("class", node.name, node.memberBlock, bases: node.inheritanceClause)
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("struct", node.name, node.memberBlock)
    }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("enum", node.name, node.memberBlock)
    }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("actor", node.name, node.memberBlock)
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.extendedType.plainName, node.memberBlock, bases: nil)
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        add("protocol", node.name)
        return .visitChildren
    }

    private func enter(
        _ kind: String, _ name: TokenSyntax, _ members: MemberBlockSyntax, bases: InheritanceClauseSyntax? = nil
    ) -> SyntaxVisitorContinueKind {
        add(kind, name)
        return enter(name.plainText, members, bases: bases)
    }

    private func enter(
        _ name: String, _ members: MemberBlockSyntax, bases: InheritanceClauseSyntax?
    ) -> SyntaxVisitorContinueKind {
        guard !isDead else { return .skipChildren }
        let path = types.last.map { "\(parts[$0].name).\(name)" } ?? name
        types.append(parts.count)
        parts.append(
            SwiftFileFacts.ClassPart(name: path, bases: bases?.inheritedTypes.map { $0.type.lastName } ?? []))
        let outer = bodies
        bodies = 0
        walk(members)
        bodies = outer
        types.removeLast()
        return .skipChildren
    }

    // MARK: Other declarations

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        add("func", node.name)
        if let body = node.body { addSkip(node.name.plainText, node.modifiers, body: Syntax(body), isFunction: true) }
        return .visitChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
                let body = binding.accessorBlock.map(Syntax.init) ?? binding.initializer.map(Syntax.init)
            else { continue }
            addSkip(name, node.modifiers, body: body, isFunction: false)
        }
        return .visitChildren
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        add("let", node.identifier)
        return .visitChildren
    }

    override func visit(_ node: MacroDeclSyntax) -> SyntaxVisitorContinueKind {
        add("macro", node.name)
        return .visitChildren
    }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        add("typealias", node.name)
        return .visitChildren
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        add("parameter", node.secondName ?? node.firstName)
        return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        add("parameter", node.secondName ?? node.firstName)
        return .visitChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        add("parameter", node.name)
        return .visitChildren
    }

    override func visit(_ node: ClosureCaptureSyntax) -> SyntaxVisitorContinueKind {
        add("parameter", node.name)
        return .visitChildren
    }

    override func visit(_ node: GenericParameterSyntax) -> SyntaxVisitorContinueKind {
        add("parameter", node.name)
        return .visitChildren
    }

    // MARK: Depth

    override func visit(_ node: MemberBlockSyntax) -> SyntaxVisitorContinueKind {
        depth += 1
        return .visitChildren
    }

    override func visitPost(_ node: MemberBlockSyntax) { depth -= 1 }

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { enterBody() }
    override func visitPost(_ node: CodeBlockSyntax) { leaveBody() }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { enterBody() }
    override func visitPost(_ node: ClosureExprSyntax) { leaveBody() }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { enterBody() }
    override func visitPost(_ node: AccessorBlockSyntax) { leaveBody() }

    private func enterBody() -> SyntaxVisitorContinueKind {
        depth += 1
        bodies += 1
        return .visitChildren
    }

    private func leaveBody() {
        depth -= 1
        bodies -= 1
    }

    // MARK: Skips

    /// Records a member that keeps the tests of its class from running, or from failing.
    private func addSkip(_ name: String, _ modifiers: DeclModifierListSyntax, body: Syntax, isFunction: Bool) {
        guard let type = types.last, bodies == 0, !isDead else { return }
        let isOverride = modifiers.contains { $0.name.text == "override" }
        let skip: String? =
            switch (isFunction, name) {
            case (false, "defaultTestSuite"), (false, "testInvocations"):
                Self.callsSuper(name, in: body) ? nil : "its own \(name)"
            case (true, "invokeTest"), (true, "run"), (true, "perform"):
                isOverride && !Self.callsSuper(name, in: body) ? "an override of \(name)() that runs no test" : nil
            case (true, "record"), (true, "recordFailure"):
                isOverride && !Self.callsSuper(name, in: body)
                    ? "an override of \(name)() that records no failure" : nil
            case (true, "setUp"), (true, "setUpWithError"), (true, "tearDown"), (true, "tearDownWithError"):
                EndFinder.firstEnd(in: body, of: file)
            default: nil
            }
        if let skip { parts[type].skips.append(skip) }
    }

    private static func callsSuper(_ name: String, in body: Syntax) -> Bool { SuperFinder.find(name, in: body) }

    /// Finds `super.NAME`.
    private final class SuperFinder: SyntaxVisitor {
        private let name: String
        private var isFound = false

        private init(_ name: String) {
            self.name = name
            super.init(viewMode: .sourceAccurate)
        }

        static func find(_ name: String, in node: Syntax) -> Bool {
            let finder = SuperFinder(name)
            finder.walk(node)
            return finder.isFound
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if node.base?.is(SuperExprSyntax.self) == true, node.declName.baseName.plainText == name { isFound = true }
            return .visitChildren
        }
    }

    /// Finds calls that skip the test or end the process.
    private final class EndFinder: ConditionalVisitor {
        private var first: String?

        static func firstEnd(in node: Syntax, of file: ParsedFile) -> String? {
            let finder = EndFinder(file)
            finder.walk(node)
            return finder.first
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            if first == nil, !isDead, let name = node.calleeName,
                name.hasPrefix("XCTSkip") || ["exit", "_exit"].contains(name)
            {
                first = name + node.argumentText
            }
            return .visitChildren
        }
    }
}
