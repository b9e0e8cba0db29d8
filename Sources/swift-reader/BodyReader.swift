import SwiftSyntax
import TestIntegrity

/// Reads what a body asserts: which assertions, how often, and which of them the test can end without.
///
/// It walks the body in the order of its text and tracks the enclosing blocks.
final class BodyReader: ConditionalVisitor {
    private(set) var shape = BodyShape()
    /// Calls of `XCTSkip` and its like, with their arguments.
    private(set) var skips: [String] = []

    /// The most calls that are recorded for one body; a body with more is generated.
    private static let callLimit = 2_000

    private struct Block {
        var end: Int
        var isConditional = false
        /// Whether its code never runs, or its failures don't count.
        var isVoid = false
        var isClosure = false
        var isSwitch = false
        var isCatch = false
        var times = 1
        var node: Syntax
    }

    private let literals: LiteralCounts
    private let body: CodeBlockSyntax
    private var blocks: [Block] = []
    /// The depth of assertions whose arguments are being read.
    private var assertions = 0
    /// Code before this position of the file is unreachable.
    private var deadUntil = -1
    /// Whether the test may have ended before this point without a failure.
    private var exitsBefore = false
    private let names: BodyNames
    private let silence = SilentBlocks()

    init(_ file: ParsedFile, _ literals: LiteralCounts, body: CodeBlockSyntax) {
        self.literals = literals
        self.body = body
        names = BodyNames(in: body)
        super.init(file)
        walk(body.statements)
        shape.tolerances = ToleranceReader.tolerances(in: [Syntax(body.statements)], of: file)
    }

    // MARK: Where a node is

    private func isVoid(_ node: some SyntaxProtocol) -> Bool {
        isDead || node.position.utf8Offset < deadUntil || blocks.contains(where: \.isVoid)
    }

    private var isConditional: Bool {
        exitsBefore || blocks.contains(where: \.isConditional) || branches.contains { $0.value == nil }
    }

    private var times: Int { blocks.reduce(1) { min(SwiftFileFacts.countLimit, $0 * max($1.times, 1)) } }

    private var isInClosure: Bool { blocks.contains(where: \.isClosure) }

    private func within(_ node: some SyntaxProtocol, _ change: (inout Block) -> Void = { _ in }, _ walk: () -> Void) {
        var block = Block(end: node.endPosition.utf8Offset, node: Syntax(node))
        change(&block)
        blocks.append(block)
        walk()
        blocks.removeLast()
    }

    // MARK: Statements

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        walk(node.conditions)
        conditional(node.body, node.conditions)
        switch node.elseBody {
        case .codeBlock(let block)?: within(block, { $0.isConditional = true }, { walk(block.statements) })
        case .ifExpr(let other)?: walk(other)
        case nil: break
        }
        return .skipChildren
    }

    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
        walk(node.conditions)
        conditional(node.body, node.conditions)
        return .skipChildren
    }

    private func conditional(_ body: CodeBlockSyntax, _ conditions: ConditionElementListSyntax) {
        var constant: Bool?
        if conditions.count == 1, case .expression(let only)? = conditions.first?.condition {
            constant = only.as(BooleanLiteralExprSyntax.self).map { $0.literal.text == "true" }
        }
        within(
            body,
            {
                $0.isVoid = constant == false
                $0.isConditional = constant != true
            }, { walk(body.statements) })
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        walk(node.conditions)
        within(node.body, { $0.isConditional = true }, { walk(node.body.statements) })
        if silence.leavesSilently(node.body), !isVoid(node), !isInClosure { exitsBefore = true }
        return .skipChildren
    }

    override func visit(_ node: SwitchExprSyntax) -> SyntaxVisitorContinueKind {
        walk(node.subject)
        within(
            node.cases,
            {
                $0.isConditional = true
                $0.isSwitch = true
            }, { walk(node.cases) })
        return .skipChildren
    }

    override func visit(_ node: DoStmtSyntax) -> SyntaxVisitorContinueKind {
        within(node.body) { walk(node.body.statements) }
        for clause in node.catchClauses {
            walk(clause.catchItems)
            if silence.isSilent(clause.body), !isVoid(clause) { shape.swallowed.append(file.line(clause)) }
            within(
                clause.body,
                {
                    $0.isConditional = true
                    $0.isCatch = true
                }, { walk(clause.body.statements) })
        }
        return .skipChildren
    }

    override func visit(_ node: DeferStmtSyntax) -> SyntaxVisitorContinueKind {
        within(node.body) { walk(node.body.statements) }
        return .skipChildren
    }

    override func visit(_ node: RepeatStmtSyntax) -> SyntaxVisitorContinueKind {
        within(node.body) { walk(node.body.statements) }
        walk(node.condition)
        return .skipChildren
    }

    override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
        walk(node.sequence)
        if let clause = node.whereClause { walk(clause) }
        let count = literals.count(of: node.sequence)
        within(
            node.body,
            {
                $0.times = count ?? 1
                $0.isVoid = count == 0
                $0.isConditional = node.whereClause != nil
            }, { walk(node.body.statements) })
        return .skipChildren
    }

    // MARK: Closures and declarations

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let body = node.body else { return .skipChildren }
        // A function that nobody calls asserts nothing.
        let isCalled = names.count(of: node.name.plainText) > 1
        within(
            body,
            {
                $0.isVoid = !isCalled
                $0.isClosure = true
            }, { walk(body.statements) })
        return .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        let isVoid = isDropped(node) || isExcused(node)
        within(
            node,
            {
                $0.isVoid = isVoid
                $0.isClosure = true
            }, { walk(node.statements) })
        return .skipChildren
    }

    /// Bodies of initialisers, accessors and local types.
    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
        within(node, { $0.isClosure = true }, { walk(node.statements) })
        return .skipChildren
    }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        within(
            node, { $0.isClosure = true },
            {
                switch node.accessors {
                case .accessors(let accessors): walk(accessors)
                case .getter(let statements): walk(statements)
                }
            })
        return .skipChildren
    }

    /// `let check = { … }` or `_ = { … }`, called by nobody.
    private func isDropped(_ node: ClosureExprSyntax) -> Bool {
        if let binding = node.parent?.as(InitializerClauseSyntax.self)?.parent?.as(PatternBindingSyntax.self) {
            if binding.pattern.is(WildcardPatternSyntax.self) { return true }
            let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText
            return name.map { names.count(of: $0) == 1 } ?? false
        }
        guard let sequence = node.parent?.as(ExprListSyntax.self)?.parent?.as(SequenceExprSyntax.self) else {
            return false
        }
        return sequence.elements.count == 3 && sequence.elements.first?.is(DiscardAssignmentExprSyntax.self) == true
            && sequence.elements.last?.id == node.id
    }

    /// Whether failures in it count as known issues.
    private func isExcused(_ node: ClosureExprSyntax) -> Bool {
        var at = node.parent
        let between: [any SyntaxProtocol.Type] = [
            LabeledExprSyntax.self, LabeledExprListSyntax.self, MultipleTrailingClosureElementSyntax.self,
            MultipleTrailingClosureElementListSyntax.self,
        ]
        while let parent = at, between.contains(where: { parent.is($0) }) { at = parent.parent }
        let name = at?.as(FunctionCallExprSyntax.self)?.calleeName
        return name == "withKnownIssue" || name == "XCTExpectFailure"
    }

    // MARK: Ends

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let expression = node.expression { walk(expression) }
        leave(node, isReturn: true)
        return .skipChildren
    }

    override func visit(_ node: BreakStmtSyntax) -> SyntaxVisitorContinueKind {
        leave(node, isReturn: false)
        return .skipChildren
    }

    override func visit(_ node: ContinueStmtSyntax) -> SyntaxVisitorContinueKind {
        leave(node, isReturn: false)
        return .skipChildren
    }

    /// Code after a `return` and its like is never reached, or only sometimes; the returned expression still runs.
    private func leave(_ node: some SyntaxProtocol, isReturn: Bool) {
        guard !isInClosure, !isVoid(node) else { return }
        guard let block = blocks.last else {
            if isReturn { deadUntil = body.endPosition.utf8Offset }
            return
        }
        if !block.isSwitch, !block.isConditional || !isReturn { deadUntil = max(deadUntil, block.end) }
        if isReturn, silence.leavesSilently(block.node) { exitsBefore = true }
    }

    /// `exit(0)`, `exit(EXIT_SUCCESS)`: the process ends successfully, whatever was left to assert.
    private func end(_ node: FunctionCallExprSyntax) {
        guard node.calledExpression.is(DeclReferenceExprSyntax.self), node.arguments.count == 1, !isInClosure,
            ["0", "EXIT_SUCCESS"].contains(node.arguments.trimmedDescription)
        else { return }
        if blocks.isEmpty { deadUntil = body.endPosition.utf8Offset } else { exitsBefore = true }
    }

    // MARK: Calls

    override func visit(_ node: TryExprSyntax) -> SyntaxVisitorContinueKind {
        guard !isVoid(node) else { return .visitChildren }
        if node.questionOrExclamationMark?.tokenKind != .postfixQuestionMark {
            shape.tries += 1
        } else if assertions == 0 {
            shape.swallowed.append(file.line(node))
        }
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        visit(macro: node)
    }

    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
        visit(macro: node)
    }

    private func visit(macro node: some FreestandingMacroExpansionSyntax) -> SyntaxVisitorContinueKind {
        let name = "#" + node.macroName.plainText
        guard Assertion.isMacro(name), node.leftParen != nil || node.trailingClosure != nil else {
            return .visitChildren
        }
        let strength =
            node.leftParen == nil
            ? .condition : AssertionReader.strength(of: name, node.arguments, isUsed: Self.isUsed(Syntax(node)))
        assert(Syntax(node), line: file.line(node), strength)
        asserting { walk(node.arguments) }
        if let closure = node.trailingClosure {
            if node.leftParen == nil { asserting { walk(closure) } } else { walk(closure) }
        }
        walk(node.additionalTrailingClosures)
        return .skipChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard let name = node.calleeName else { return .visitChildren }
        if name == "XCTFail" || name == "record" && SilentBlocks.isIssue(node.calledExpression) { return fail(node) }
        if Assertion.isFramework(name) { return visit(assertion: node, name) }
        if !isVoid(node) { take(node, name) }
        return .visitChildren
    }

    /// Records a call that is not an assertion.
    private func take(_ node: FunctionCallExprSyntax, _ name: String) {
        switch name {
        case "exit", "_exit", "quick_exit": end(node)
        case "sleep", "usleep", "nanosleep":
            let word = node.calledExpression.lastToken(viewMode: .sourceAccurate)
            shape.sleeps.append(word.map { file.line($0) } ?? file.line(node))
        default:
            if name.hasPrefix("XCTSkip") { skips.append(name + node.argumentText) }
            if assertions == 0, shape.calls.count < Self.callLimit, !names.isOwnFunction(name) {
                shape.calls.append(
                    BodyShape.Call(name: name, line: file.line(node), times: times, isConditional: isConditional))
            }
            if name == "XCTExpectFailure", node.trailingClosure == nil,
                !node.arguments.contains(where: { $0.expression.is(ClosureExprSyntax.self) })
            {
                // From here to the end of the test every failure is expected.
                deadUntil = body.endPosition.utf8Offset
            }
        }
    }

    /// `XCTFail`, `Issue.record`. An error fails a test with or without `catch`, so the `try` is what counts.
    private func fail(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if assertions == 0, !isVoid(node), !blocks.contains(where: \.isCatch) { shape.failures.append(file.line(node)) }
        return .skipChildren
    }

    private func visit(assertion node: FunctionCallExprSyntax, _ name: String) -> SyntaxVisitorContinueKind {
        var strength = AssertionReader.strength(of: name, node.arguments, isUsed: Self.isUsed(Syntax(node)))
        if name == "XCTAssertThrowsError", let closure = node.trailingClosure {
            // Assertions about the error belong to this one: together they check for one exact error.
            if SilentBlocks.asserts(closure) { strength = .value }
            assert(Syntax(node), line: file.line(node), strength)
            return .skipChildren
        }
        assert(Syntax(node), line: file.line(node), strength)
        asserting { walk(node.arguments) }
        if let closure = node.trailingClosure { walk(closure) }
        walk(node.additionalTrailingClosures)
        return .skipChildren
    }

    // MARK: Assertions

    private func asserting(_ walk: () -> Void) {
        assertions += 1
        walk()
        assertions -= 1
    }

    private func assert(_ node: Syntax, line: Int, _ strength: Assertion.Strength) {
        guard assertions == 0, !isVoid(node) else { return }
        var found = Assertion(
            strength: Self.isSwallowed(node) ? .none : strength, line: line,
            text: SourceWords.text(of: [node], limit: 300))
        found.times = times
        found.isConditional = isConditional
        found.isAlternative = branches.contains(where: \.isAlternative)
        shape.assertions.append(found)
    }

    /// `try? #require(…)`
    private static func isSwallowed(_ node: Syntax) -> Bool {
        var at = node.parent
        while let parent = at, parent.is(AwaitExprSyntax.self) { at = parent.parent }
        return at?.as(TryExprSyntax.self)?.questionOrExclamationMark?.tokenKind == .postfixQuestionMark
    }

    /// Whether its result is used: `let x = try #require(…)`.
    private static func isUsed(_ node: Syntax) -> Bool {
        var inner = node
        while let parent = inner.parent, parent.is(AwaitExprSyntax.self) || parent.is(TryExprSyntax.self) {
            inner = parent
        }
        guard let parent = inner.parent else { return false }
        if let list = parent.as(ExprListSyntax.self) { return list.first?.id != inner.id }
        return parent.is(InitializerClauseSyntax.self) || parent.is(LabeledExprSyntax.self)
            || parent.is(ReturnStmtSyntax.self)
    }
}

/// Remembers whether blocks assert, fail or throw.
final class SilentBlocks {
    private var silent: [SyntaxIdentifier: Bool] = [:]
    private var leaves: [SyntaxIdentifier: Bool] = [:]

    /// Whether a block can end the test without a failure.
    func leavesSilently(_ block: some SyntaxProtocol) -> Bool {
        if let known = leaves[block.id] { return known }
        let hasReturn = block.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.return) }
        let result = hasReturn && isSilent(block)
        leaves[block.id] = result
        return result
    }

    /// Whether a block neither asserts, nor fails, nor throws.
    func isSilent(_ block: some SyntaxProtocol) -> Bool {
        if let known = silent[block.id] { return known }
        let result = !block.tokens(viewMode: .sourceAccurate).contains { token in
            switch token.tokenKind {
            case .keyword(.throw), .keyword(.try): true
            case .identifier(let name):
                name == "fatalError" || name == "preconditionFailure" || name.lowercased().contains("fail")
                    || Self.isAssertion(token)
            default: false
            }
        }
        silent[block.id] = result
        return result
    }

    static func asserts(_ node: some SyntaxProtocol) -> Bool {
        node.tokens(viewMode: .sourceAccurate).contains(where: isAssertion)
    }

    private static func isAssertion(_ token: TokenSyntax) -> Bool {
        guard case .identifier = token.tokenKind else { return false }
        let name = token.plainText
        if Assertion.isFramework(name) { return true }
        let previous = token.previousToken(viewMode: .sourceAccurate)
        if previous?.tokenKind == .pound { return Assertion.isMacro("#" + name) }
        guard name == "record", let member = token.parent?.parent?.as(MemberAccessExprSyntax.self) else { return false }
        return isIssue(ExprSyntax(member))
    }

    /// `Issue.record`
    static func isIssue(_ expression: ExprSyntax) -> Bool {
        expression.as(MemberAccessExprSyntax.self)?.base?.lastName == "Issue"
    }
}
