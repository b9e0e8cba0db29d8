/// Reads what a body asserts: which assertions, how often, and which of them a test can end without.
struct BodyReader {
    let words: SwiftWords
    /// Collections with names, for the rounds of loops.
    let literals: [String: LiteralCounts.Named]

    private var tokens: [SwiftToken] { words.tokens }

    /// Names of one body that may be helpers; a body with more calls is generated.
    static let callLimit = 2_000
    /// Words, brackets counted as one, between `if` and its body.
    static let headerLimit = 200
    /// Words of what a `return` returns.
    static let statementLimit = 100

    private struct Block {
        var end: Int
        var isConditional = false
        /// Nothing in it is ever done, or what it finds is excused.
        var isVoid = false
        var isClosure = false
        var isSwitch = false
        var isCatch = false
        var times = 1
    }

    init(words: SwiftWords, literals: [String: LiteralCounts.Named]) {
        self.words = words
        self.literals = literals
    }

    func shape(of range: Range<Int>) -> BodyShape {
        var shape = BodyShape()
        var blocks: [Block] = []
        var coming: [Int: Block] = [:]
        /// Where the arguments of the assertion end that is being read.
        var assertionEnd = -1
        var (deadUntil, exitsBefore) = (-1, false)
        // What functions inside the body assert is counted where it stands, not where they are called.
        let own = Set(range.dropFirst().filter { tokens[$0 - 1].isWord("func") }.map { tokens[$0].text })
        let mentions = Dictionary(
            range.lazy.filter { tokens[$0].kind == .identifier }.map { (tokens[$0].text, 1) }, uniquingKeysWith: +)
        let outer = words.facts(at: range.lowerBound == 0 ? 0 : range.lowerBound - 1)
        let silence = Silence()
        var index = range.lowerBound
        while index < range.upperBound {
            while let block = blocks.last, index >= block.end { blocks.removeLast() }
            let token = tokens[index]
            let facts = words.facts(at: index)
            let isVoid = facts.isDead || index < deadUntil || blocks.contains(where: \.isVoid)
            let isConditional =
                exitsBefore || blocks.contains(where: \.isConditional) || facts.open > outer.open
            if token.isPunctuation("{") {
                blocks.append(coming.removeValue(forKey: index) ?? closure(at: index, mentions))
                index += 1
                continue
            }
            if let assertion = assertion(at: index, in: range), index >= assertionEnd {
                assertionEnd = assertion.end
                if !isVoid {
                    var found = assertion.value
                    found.times = blocks.reduce(1) { min(LiteralCounts.limit, $0 * max($1.times, 1)) }
                    found.isConditional = isConditional
                    if isSwallowed(index) { found.strength = .none }
                    found.isAlternative = facts.alternatives > outer.alternatives
                    if !assertion.isFailure {
                        shape.assertions.append(found)
                    } else if !blocks.contains(where: \.isCatch) {
                        // That something throws fails a test with or without `catch`: the `try` is what counts.
                        shape.failures.append(token.line)
                    }
                }
                index = assertion.next
                continue
            }
            guard token.kind == .identifier, !isVoid, !isMember(index) || isCall(index, in: range) else {
                index += 1
                continue
            }
            switch token.text {
            case "if" where !isMember(index), "while" where !isMember(index):
                if let body = brace(after: index, before: range.upperBound) {
                    coming[body] = conditional(body, condition: (index + 1)..<body)
                }
            case "guard":
                if let body = brace(after: index, before: range.upperBound) {
                    coming[body] = Block(end: words.partner[body], isConditional: true)
                    // `guard true else` lets everything through; anything else may leave here.
                    if leavesSilently(body, silence) {
                        exitsBefore = exitsBefore || !blocks.contains(where: \.isClosure)
                    }
                }
            case "else", "switch", "catch":
                if let body = brace(after: index, before: range.upperBound), coming[body] == nil,
                    !(token.text == "else" && tokens[index + 1].isWord("if"))
                {
                    coming[body] = Block(
                        end: words.partner[body], isConditional: true, isSwitch: token.text == "switch",
                        isCatch: token.text == "catch")
                    if token.text == "catch", isSilent(body, silence) { shape.swallowed.append(token.line) }
                }
            case "do", "defer", "repeat":
                if let body = brace(after: index, before: range.upperBound), body == index + 1 {
                    coming[body] = Block(end: words.partner[body])
                }
            case "for":
                if let body = brace(after: index, before: range.upperBound) {
                    coming[body] = loop(body, header: (index + 1)..<body)
                }
            case "func":
                // What nobody calls asserts nothing.
                if index + 1 < range.upperBound, mentions[tokens[index + 1].text] == 1,
                    let body = brace(after: index, before: range.upperBound),
                    // Not the same function again, begun in another branch of `#if`.
                    !words.shared.contains(words.partner[body])
                {
                    coming[body] = Block(end: words.partner[body], isVoid: true, isClosure: true)
                }
            case "exit", "_exit", "quick_exit":
                // The process ends well, whatever was still to be asserted.
                if endsWell(index, in: range), !blocks.contains(where: \.isClosure) {
                    if blocks.isEmpty { deadUntil = range.upperBound } else { exitsBefore = true }
                }
            case "return", "continue", "break":
                leave(token.text, at: index, in: range, blocks, silence, &deadUntil, &exitsBefore)
            case "try":
                let isOptional =
                    index + 1 < range.upperBound && tokens[index + 1].text.hasPrefix("?")
                    && tokens[index + 1].kind == .operator
                if !isOptional { shape.tries += 1 } else if index >= assertionEnd { shape.swallowed.append(token.line) }
            case "sleep", "usleep", "nanosleep":
                if isCall(index, in: range) { shape.sleeps.append(token.line) }
            default:
                if token.text == "XCTExpectFailure", !hasClosure(index, in: range) {
                    // From here to the end of the test every failure is expected.
                    deadUntil = range.upperBound
                }
                if isCall(index, in: range), shape.calls.count < Self.callLimit, index >= assertionEnd,
                    !own.contains(token.text)
                {
                    shape.calls.append(
                        BodyShape.Call(
                            name: token.text, line: token.line,
                            times: blocks.reduce(1) { min(LiteralCounts.limit, $0 * max($1.times, 1)) },
                            isConditional: isConditional))
                }
            }
            index += 1
        }
        shape.tolerances = tolerances(in: range)
        return shape
    }

    // MARK: Blocks

    private func isMember(_ index: Int) -> Bool { index > 0 && tokens[index - 1].isPunctuation(".") }

    private func isCall(_ index: Int, in range: Range<Int>) -> Bool {
        guard index + 1 < range.upperBound, !tokens[index].startsLine || index > 0 else { return false }
        let next = tokens[index + 1]
        return (next.isPunctuation("(") && !next.isSpaced || next.isPunctuation("{"))
            && !(index > 0 && tokens[index - 1].isWord("func"))
    }

    /// `exit(0)`, `exit(EXIT_SUCCESS)`
    private func endsWell(_ index: Int, in range: Range<Int>) -> Bool {
        guard !isMember(index), index + 3 < range.upperBound, tokens[index + 1].isPunctuation("("),
            words.partner[index + 1] == index + 3
        else { return false }
        return ["0", "EXIT_SUCCESS"].contains(tokens[index + 2].text)
    }

    private func hasClosure(_ index: Int, in range: Range<Int>) -> Bool {
        guard index + 1 < range.upperBound else { return false }
        if tokens[index + 1].isPunctuation("{") { return true }
        guard tokens[index + 1].isPunctuation("(") else { return false }
        let end = words.partner[index + 1]
        return (index..<end).contains { tokens[$0].isPunctuation("{") }
            || end + 1 < range.upperBound && tokens[end + 1].isPunctuation("{")
    }

    /// The `{` of a statement's body: the first one outside brackets.
    private func brace(after index: Int, before end: Int) -> Int? {
        var at = index + 1
        var steps = 0
        while at < end, steps < Self.headerLimit {
            steps += 1
            if tokens[at].isPunctuation("{") { return at }
            if tokens[at].isPunctuation("}") || tokens[at].isPunctuation(";") { return nil }
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        return nil
    }

    private func conditional(_ body: Int, condition: Range<Int>) -> Block {
        var block = Block(end: words.partner[body], isConditional: true)
        if condition.count == 1 {
            if tokens[condition.lowerBound].isWord("false") { block.isVoid = true }
            if tokens[condition.lowerBound].isWord("true") { block.isConditional = false }
        }
        return block
    }

    private func loop(_ body: Int, header: Range<Int>) -> Block {
        var block = Block(end: words.partner[body])
        var at = header.lowerBound
        while at < header.upperBound, !tokens[at].isWord("in") {
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        let end = (at..<header.upperBound).first { tokens[$0].isWord("where") } ?? header.upperBound
        guard at + 1 < end else { return block }
        if let count = LiteralCounts.count(of: (at + 1)..<end, words, named: literals) {
            block.times = count
            block.isVoid = count == 0
        }
        if end < header.upperBound { block.isConditional = true }
        return block
    }

    private func closure(at brace: Int, _ mentions: [String: Int]) -> Block {
        var block = Block(end: words.partner[brace], isClosure: true)
        // `let check = { … }` or `_ = { … }`, called by nobody.
        let next = words.partner[brace] + 1
        if brace > 1, tokens[brace - 1].text == "=", tokens[brace - 2].kind == .identifier,
            !(next < tokens.count && tokens[next].isPunctuation("(") && !tokens[next].isSpaced)
        {
            let name = tokens[brace - 2].text
            let isNew = brace > 2 && (tokens[brace - 3].isWord("let") || tokens[brace - 3].isWord("var"))
            block.isVoid = name == "_" || isNew && mentions[name] == 1
        }
        var callee = brace - 1
        if callee >= 0, tokens[callee].isPunctuation(")") { callee = words.partner[callee] - 1 }
        if callee >= 0, ["withKnownIssue", "XCTExpectFailure"].contains(tokens[callee].text) { block.isVoid = true }
        return block
    }

    /// `return` and its like: what stands behind it is never reached, or only sometimes.
    private func leave(
        _ word: String, at index: Int, in range: Range<Int>, _ blocks: [Block], _ silence: Silence,
        _ deadUntil: inout Int, _ exitsBefore: inout Bool
    ) {
        guard !blocks.contains(where: \.isClosure) else { return }
        // What is returned is still done.
        var end = index + 1
        // A statement is no longer; a line of nothing but `return` must not be read as often as it has words.
        while end < min(range.upperBound, index + Self.statementLimit),
            !tokens[end].startsLine || tokens[end - 1].kind == .operator,
            !tokens[end].isPunctuation("}"), !tokens[end].isPunctuation(";")
        {
            end = words.partner[end] > end ? words.partner[end] + 1 : end + 1
        }
        let asserts = (index..<min(end, index + Self.statementLimit)).contains { assertion(at: $0, in: range) != nil }
        guard !asserts else { return }
        guard let block = blocks.last else {
            if word == "return" { deadUntil = range.upperBound }
            return
        }
        if !block.isSwitch, end < block.end, !block.isConditional || word != "return" {
            deadUntil = max(deadUntil, block.end)
        }
        if word == "return", leavesSilently(blockStart(block), silence) { exitsBefore = true }
    }

    private func blockStart(_ block: Block) -> Int { words.partner[block.end] }

    /// Whether a block can end the test without a word.
    private func leavesSilently(_ brace: Int, _ silence: Silence) -> Bool {
        guard brace >= 0 else { return false }
        if let known = silence.leaves[brace] { return known }
        let inside = (brace + 1)..<max(brace + 1, words.partner[brace])
        let leaves = inside.contains { tokens[$0].isWord("return") } && isSilent(brace, silence)
        silence.leaves[brace] = leaves
        return leaves
    }

    /// What was found out about blocks, by their opening brackets.
    private final class Silence {
        var leaves: [Int: Bool] = [:]
        var silent: [Int: Bool] = [:]
    }

    /// Whether a block neither asserts, nor fails, nor throws.
    private func isSilent(_ brace: Int, _ silence: Silence) -> Bool {
        if let known = silence.silent[brace] { return known }
        let inside = (brace + 1)..<max(brace + 1, words.partner[brace])
        let isSilent = !inside.contains { index in
            tokens[index].isWord("throw") || tokens[index].isWord("fatalError")
                || tokens[index].isWord("preconditionFailure") || tokens[index].isWord("try")
                || assertion(at: index, in: inside) != nil
                || tokens[index].kind == .identifier && tokens[index].text.lowercased().contains("fail")
        }
        silence.silent[brace] = isSilent
        return isSilent
    }

    // MARK: Assertions

    private func isSwallowed(_ index: Int) -> Bool {
        var at = index - 1
        if at >= 0, tokens[at].isWord("await") { at -= 1 }
        return at >= 1 && tokens[at].kind == .operator && tokens[at].text.hasPrefix("?") && tokens[at - 1].isWord("try")
    }

    private struct Found {
        var value: Assertion
        var end: Int
        var next: Int
        var isFailure = false
    }

    private func assertion(at index: Int, in range: Range<Int>) -> Found? {
        let token = tokens[index]
        guard index + 1 < range.upperBound else { return nil }
        let hasList = tokens[index + 1].isPunctuation("(") && !tokens[index + 1].isSpaced
        let hasClosure = tokens[index + 1].isPunctuation("{")
        guard hasList || hasClosure else { return nil }
        let isMacro = token.kind == .macro && Assertion.isMacro(token.text)
        let isRecord = token.isWord("record") && index > 1 && tokens[index - 2].isWord("Issue")
        let isNamed = token.kind == .identifier && Assertion.isFramework(token.text)
        guard isMacro || isRecord || isNamed else { return nil }
        let end = words.partner[index + 1]
        let arguments = (index + 2)..<max(index + 2, end)
        let text = words.text(of: index...min(end, range.upperBound - 1), limit: 300)
        if isRecord || token.text == "XCTFail" {
            return Found(
                value: Assertion(strength: .presence, line: token.line, text: text), end: end, next: end + 1,
                isFailure: true)
        }
        var strength =
            hasList
            ? AssertionReader(words: words).strength(of: token.text, arguments, isUsed: isUsed(index)) : .condition
        var next = index + 1
        if token.text == "XCTAssertThrowsError", end + 1 < range.upperBound, tokens[end + 1].isPunctuation("{") {
            // What is asserted of the error belongs to it: together they say that one error is thrown.
            next = words.partner[end + 1] + 1
            let inside = (end + 2)..<max(end + 2, words.partner[end + 1])
            if inside.contains(where: { assertion(at: $0, in: inside) != nil }) { strength = .value }
        }
        return Found(value: Assertion(strength: strength, line: token.line, text: text), end: end, next: next)
    }

    /// Whether its result is taken: `let x = try #require(…)`.
    private func isUsed(_ index: Int) -> Bool {
        var at = index - 1
        while at >= 0, tokens[at].isWord("try") || tokens[at].isWord("await") { at -= 1 }
        return at >= 0 && (tokens[at].kind == .operator || tokens[at].isPunctuation("(") || tokens[at].isWord("return"))
            && !tokens[index].startsLine
    }

    // MARK: Tolerances

    private static let labels: Set<String> = [
        "accuracy", "tolerance", "absoluteTolerance", "relativeTolerance", "within", "timeout", "timeLimit",
        "precision",
        "perceptualPrecision", "epsilon", "delta", "deadline", "retries", "maxRetries", "attempts",
    ]

    func tolerances(in range: Range<Int>) -> [BodyShape.Tolerance] {
        range.compactMap { index in
            let token = tokens[index]
            guard token.kind == .identifier, Self.labels.contains(token.text), index + 2 < range.upperBound,
                tokens[index + 1].isPunctuation(":")
                    || token.text == "timeLimit" && tokens[index + 1].isPunctuation("(")
            else { return nil }
            guard var value = number(from: index + 2, in: range) else { return nil }
            // The nearer to one, the stricter.
            if token.text.lowercased().hasSuffix("precision") { value = 1 - value }
            return BodyShape.Tolerance(label: token.text, value: value, line: token.line)
        }
    }

    private func number(from index: Int, in range: Range<Int>) -> Double? {
        var at = index
        var unit = 1.0
        if tokens[at].isPunctuation("."), at + 3 < range.upperBound, tokens[at + 2].isPunctuation("(") {
            switch tokens[at + 1].text {
            case "minutes": unit = 60
            case "hours": unit = 3_600
            case "milliseconds": unit = 0.001
            case "microseconds": unit = 0.000_001
            case "nanoseconds": unit = 0.000_000_001
            default: break
            }
            at += 3
        }
        guard tokens[at].kind == .number else { return nil }
        return Double(tokens[at].text.filter { $0 != "_" }).map { $0 * unit }
    }
}
