import SwiftSyntax
import TestIntegrity

/// Finds the tests of a file, and the helper functions that assert for them.
final class DeclarationReader: ConditionalVisitor {
    private(set) var tests: [TestShape] = []
    private(set) var helpers: [SwiftFileFacts.Helper] = []
    private let literals: LiteralCounts
    private let importsXCTest: Bool
    private var scopes: [Scope] = []

    /// A type that encloses the current node.
    private struct Scope {
        var name: String
        /// Whether XCTest may find tests in it.
        var mayHoldXCTests: Bool
        var isClass: Bool
        var skips: [String]
        var availability: [String]
    }

    override init(_ file: ParsedFile) {
        literals = LiteralCounts(of: file)
        importsXCTest = file.tree.statements.contains { statement in
            ImportFinder.imports("XCTest", in: statement)
        }
        super.init(file)
    }

    // MARK: Types

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(
            node.name.plainText, node.attributes, node.memberBlock, isClass: true,
            mayHoldXCTests: node.inheritanceClause != nil)
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name.plainText, node.attributes, node.memberBlock)
    }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name.plainText, node.attributes, node.memberBlock)
    }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name.plainText, node.attributes, node.memberBlock)
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name.plainText, node.attributes, node.memberBlock)
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.extendedType.plainName, node.attributes, node.memberBlock, mayHoldXCTests: importsXCTest)
    }

    private func enter(
        _ name: String, _ attributes: AttributeListSyntax, _ members: MemberBlockSyntax, isClass: Bool = false,
        mayHoldXCTests: Bool = false
    ) -> SyntaxVisitorContinueKind {
        let given = self.attributes(attributes)
        scopes.append(
            Scope(
                name: name, mayHoldXCTests: mayHoldXCTests, isClass: isClass,
                skips: given.filter { $0.name == "Suite" }.flatMap { skips(in: $0.arguments) },
                availability: given.compactMap(\.availability)))
        walk(members)
        scopes.removeLast()
        return .skipChildren
    }

    // MARK: Functions

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let body = node.body, !isDead else { return .skipChildren }
        let reader = BodyReader(file, literals, body: body)
        let given = attributes(node.attributes)
        if let attribute = given.first(where: { $0.name == "Test" }) {
            addTest(node, body, reader.shape, attribute, given)
        } else if isXCTest(node) {
            var test = self.test(node, .xcTest, reader.shape, given)
            test.words = WordBag(SourceWords.words(of: [Syntax(body.statements)]))
            test.skips += reader.skips
            tests.append(test)
        } else if !reader.shape.isEmpty {
            helpers.append(
                SwiftFileFacts.Helper(name: node.name.plainText, line: file.line(node.funcKeyword), body: reader.shape))
        }
        return .skipChildren
    }

    private func isXCTest(_ node: FunctionDeclSyntax) -> Bool {
        guard node.name.plainText.hasPrefix("test"), node.signature.parameterClause.parameters.isEmpty,
            !node.modifiers.contains(where: { ["private", "fileprivate", "static"].contains($0.name.text) }),
            let scope = scopes.last
        else { return false }
        return scope.mayHoldXCTests
    }

    private func addTest(
        _ node: FunctionDeclSyntax, _ body: CodeBlockSyntax, _ shape: BodyShape, _ attribute: Attribute,
        _ given: [Attribute]
    ) {
        var test = self.test(node, .swiftTesting, shape, given)
        test.conditions += attribute.conditions
        test.skips = scopes.flatMap(\.skips) + skips(in: attribute.arguments)
        test.hasArguments = !node.signature.parameterClause.parameters.isEmpty
        test.cases = literals.cases(in: attribute.arguments)
        let arguments = attribute.arguments.map { Syntax($0) }
        test.body.tolerances += ToleranceReader.tolerances(in: arguments, of: file)
        // A table of values that the arguments name belongs to the test.
        let names = arguments.flatMap { SourceWords.words(of: [$0]) }
        let tables = names.compactMap { literals.named[$0]?.value }.prefix(2)
        test.words = WordBag(
            names + tables.flatMap { SourceWords.words(of: [Syntax($0)], limit: 4_000) }
                + SourceWords.words(of: [Syntax(body.statements)]))
        tests.append(test)
    }

    private func test(
        _ node: FunctionDeclSyntax, _ framework: TestShape.Framework, _ shape: BodyShape, _ given: [Attribute]
    ) -> TestShape {
        var test = TestShape(
            framework: framework, suite: scopes.map(\.name).joined(separator: "."), name: node.name.plainText,
            line: file.line(node.funcKeyword))
        test.conditions =
            branches.filter { $0.value != true }.map(\.condition) + scopes.flatMap(\.availability)
            + given.compactMap(\.availability)
        test.body = shape
        return test
    }

    // MARK: Attributes

    private struct Attribute {
        var name: String
        var arguments: [LabeledExprSyntax]
        /// `@available(macOS 99, *)`: such a test does not run everywhere. Deprecation alone does not count.
        var availability: String?
        /// Conditions of an `#if` around the attribute alone.
        var conditions: [String]
    }

    private func attributes(_ list: AttributeListSyntax, conditions: [String] = []) -> [Attribute] {
        list.flatMap { element -> [Attribute] in
            switch element {
            case .attribute(let attribute): return [self.attribute(attribute, conditions)]
            case .ifConfigDecl(let block):
                return Self.branches(of: block).flatMap { branch, clause -> [Attribute] in
                    guard branch.value != false, case .attributes(let inner)? = clause.elements else { return [] }
                    return attributes(inner, conditions: conditions + (branch.value == true ? [] : [branch.condition]))
                }
            }
        }
    }

    private func attribute(_ node: AttributeSyntax, _ conditions: [String]) -> Attribute {
        let name = node.attributeName.lastName
        var found = Attribute(name: name, arguments: [], conditions: conditions)
        if case .argumentList(let arguments)? = node.arguments { found.arguments = Array(arguments) }
        if name == "available", let arguments = node.arguments {
            let words = SourceWords.words(of: [Syntax(arguments)])
            if !words.isEmpty, !words.contains("deprecated") {
                found.availability = "@available(\(SourceWords.text(of: [Syntax(arguments)], limit: 100)))"
            }
        }
        return found
    }

    /// Traits that keep a test from running: `.disabled(…)`, `.enabled(if: …)`.
    private func skips(in arguments: [LabeledExprSyntax]) -> [String] {
        arguments.flatMap { SkipTraits.read($0) }
    }
}

/// Finds traits of Swift Testing that keep a test from running, as written.
private final class SkipTraits: SyntaxVisitor {
    private var found: [String] = []

    static func read(_ node: some SyntaxProtocol) -> [String] {
        let finder = SkipTraits(viewMode: .sourceAccurate)
        finder.walk(node)
        return finder.found
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.declName.baseName.plainText
        guard name == "disabled" || name == "enabled" else { return .visitChildren }
        let call = node.parent?.as(FunctionCallExprSyntax.self)
        found.append(".\(name)\(call?.calledExpression.id == node.id ? call?.argumentText ?? "" : "")")
        return .visitChildren
    }
}

/// Finds the import of a module, also inside an `#if`.
private final class ImportFinder: SyntaxVisitor {
    private let module: String
    private var isFound = false

    private init(_ module: String) {
        self.module = module
        super.init(viewMode: .sourceAccurate)
    }

    static func imports(_ module: String, in node: some SyntaxProtocol) -> Bool {
        let finder = ImportFinder(module)
        finder.walk(node)
        return finder.isFound
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.path.first?.name.plainText == module { isFound = true }
        return .skipChildren
    }

    override func visit(_ node: MemberBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
