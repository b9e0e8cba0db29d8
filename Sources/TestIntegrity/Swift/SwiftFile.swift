/// The tests that a Swift file declares, and its functions that assert something for them.
struct SwiftFile: Sendable {
    struct Helper: Sendable, Equatable {
        var name: String
        var line: Int
        var body: BodyShape
    }

    var path: String
    var tests: [TestShape] = []
    var helpers: [Helper] = []
    var outline: SwiftOutline

    init(path: String, bytes: [UInt8]) throws(SwiftLexer.Problem) {
        self.path = path
        let words = try SwiftWords(bytes)
        var reader = DeclarationReader(words: words, path: path)
        reader.read()
        tests = reader.tests
        helpers = reader.helpers
        outline = SwiftOutline(words)
    }
}

/// Finds declarations: types, the functions in them, their attributes.
private struct DeclarationReader {
    let words: SwiftWords
    let path: String
    var tests: [TestShape] = []
    var helpers: [SwiftFile.Helper] = []
    private var tokens: [SwiftToken] { words.tokens }
    private var literals: [String: LiteralCounts.Named]
    private let importsXCTest: Bool

    private struct Scope {
        var name: String
        var end: Int
        var isClass: Bool
        var isExtension: Bool
        var inherits: Bool
        var skips: [String]
        var availability: [String]
    }

    private struct Attribute {
        var name: String
        /// Of its argument list, brackets left out.
        var arguments: Range<Int>?
    }

    private static let modifiers: Set<String> = [
        "public", "private", "fileprivate", "internal", "package", "open", "static", "final", "override", "mutating",
        "nonmutating", "nonisolated", "isolated", "async", "indirect", "required", "convenience", "unsafe", "borrowing",
        "consuming", "dynamic", "class",
    ]

    init(words: SwiftWords, path: String) {
        self.words = words
        self.path = path
        literals = LiteralCounts.named(in: words)
        importsXCTest = words.tokens.indices.dropLast().contains { index in
            words.tokens[index].isWord("import") && words.tokens[index + 1].isWord("XCTest")
        }
    }

    mutating func read() {
        var scopes: [Scope] = []
        var attributes: [Attribute] = []
        var modifiers: Set<String> = []
        var index = 0
        while index < tokens.count {
            while let scope = scopes.last, index >= scope.end { scopes.removeLast() }
            let token = tokens[index]
            if token.isPunctuation("@"), index + 1 < tokens.count {
                let (attribute, next) = self.attribute(at: index)
                attributes.append(attribute)
                index = next
                continue
            }
            guard token.kind == .identifier, !isMember(index) else {
                if token.kind == .punctuation, ["{", "}", ";"].contains(token.text) {
                    (attributes, modifiers) = ([], [])
                }
                index += 1
                continue
            }
            switch token.text {
            case "class", "struct", "enum", "extension", "actor", "protocol":
                if let (scope, body) = scope(at: index, attributes) {
                    scopes.append(scope)
                    (attributes, modifiers) = ([], [])
                    index = body
                    continue
                }
                modifiers.insert(token.text)
            case "import":
                // `import struct Module.Name`
                index += 1
                while index < tokens.count, !tokens[index].startsLine, !tokens[index].isPunctuation(";") { index += 1 }
                (attributes, modifiers) = ([], [])
                continue
            case "func":
                index = function(at: index, attributes, modifiers, in: scopes)
                (attributes, modifiers) = ([], [])
                continue
            case "private" where index + 1 < tokens.count && tokens[index + 1].isPunctuation("("):
                index = words.partner[index + 1]
            default:
                if Self.modifiers.contains(token.text) {
                    modifiers.insert(token.text)
                } else {
                    (attributes, modifiers) = ([], [])
                }
            }
            index += 1
        }
    }

    /// `@available(macOS 99, *)`, not what is deprecated only: such a test does not run everywhere.
    private func availability(_ attributes: [Attribute]) -> [String] {
        attributes.compactMap { attribute in
            guard attribute.name == "available", let range = attribute.arguments, !range.isEmpty,
                !range.contains(where: { tokens[$0].isWord("deprecated") })
            else { return nil }
            return "@available(\(words.text(of: range.lowerBound...(range.upperBound - 1), limit: 100)))"
        }
    }

    private func isMember(_ index: Int) -> Bool { index > 0 && tokens[index - 1].isPunctuation(".") }

    private func attribute(at index: Int) -> (Attribute, next: Int) {
        var at = index + 1
        var name = tokens[at].text
        at += 1
        while at + 1 < tokens.count, tokens[at].isPunctuation("."), tokens[at + 1].kind == .identifier {
            name = tokens[at + 1].text
            at += 2
        }
        guard at < tokens.count, tokens[at].isPunctuation("("), !tokens[at].isSpaced else {
            return (Attribute(name: name), at)
        }
        let end = words.partner[at]
        return (Attribute(name: name, arguments: (at + 1)..<end), end + 1)
    }

    private func scope(at index: Int, _ attributes: [Attribute]) -> (Scope, body: Int)? {
        guard index + 1 < tokens.count, tokens[index + 1].kind == .identifier,
            !["func", "var", "let", "subscript", "init"].contains(tokens[index + 1].text)
        else { return nil }
        var at = index + 1
        var name = tokens[at].text
        while at + 2 < tokens.count, tokens[at + 1].isPunctuation("."), tokens[at + 2].kind == .identifier {
            name += "." + tokens[at + 2].text
            at += 2
        }
        at += 1
        var inherits = false
        let start = at
        while at < tokens.count, at - start < 200 || words.partner[at] > at, !tokens[at].isPunctuation("{") {
            if tokens[at].isPunctuation(":") { inherits = true }
            // No declaration after all.
            if tokens[at].isPunctuation("}") || tokens[at].isPunctuation(";") { return nil }
            let partner = words.partner[at]
            at = partner > at ? partner + 1 : at + 1
        }
        guard at < tokens.count, tokens[at].isPunctuation("{"), words.partner[at] > at else { return nil }
        let kind = tokens[index].text
        let suite = attributes.filter { $0.name == "Suite" }
        return (
            Scope(
                name: name, end: words.partner[at], isClass: kind == "class", isExtension: kind == "extension",
                inherits: inherits, skips: suite.flatMap { skips(in: $0.arguments) },
                availability: availability(attributes)), at + 1
        )
    }

    /// Reads a function and returns the place behind it.
    private mutating func function(
        at index: Int, _ attributes: [Attribute], _ modifiers: Set<String>, in scopes: [Scope]
    ) -> Int {
        guard index + 1 < tokens.count else { return index + 1 }
        let name = tokens[index + 1].text
        var at = index + 2
        while at < tokens.count, !tokens[at].isPunctuation("(") {
            if tokens[at].isPunctuation("{") || tokens[at].isPunctuation("}") { return at }
            at += 1
        }
        guard at < tokens.count else { return at }
        let hasParameters = words.partner[at] > at + 1
        at = words.partner[at] + 1
        // The body is on the way, unless the next declaration comes first: a requirement of a protocol has none.
        while at < tokens.count, !tokens[at].isPunctuation("{") {
            if tokens[at].isPunctuation("}") || tokens[at].isPunctuation("@") && tokens[at].startsLine { return at }
            if tokens[at].kind == .identifier, ["func", "var", "let", "init"].contains(tokens[at].text) { return at }
            let partner = words.partner[at]
            at = partner > at ? partner + 1 : at + 1
        }
        guard at < tokens.count else { return at }
        let end = words.partner[at]
        guard end > at else { return at + 1 }
        let body = (at + 1)..<end
        let shape = BodyReader(words: words, literals: literals).shape(of: body)
        let suite = scopes.map(\.name).joined(separator: ".")
        let available = scopes.flatMap(\.availability) + availability(attributes)
        if let attribute = attributes.first(where: { $0.name == "Test" }) {
            add(name, suite, index, body, shape, attribute, scopes, available, hasParameters: hasParameters)
        } else if name.hasPrefix("test"), !hasParameters,
            modifiers.isDisjoint(with: ["private", "fileprivate", "static"]),
            let scope = scopes.last, scope.isExtension || scope.isClass && scope.inherits,
            importsXCTest || scope.isClass
        {
            var test = self.test(name, suite, index, end, shape, .xcTest, available)
            test.words = WordBag(tokens[body].map(\.text))
            test.skips += skips(in: body, of: "XCTSkip")
            if words.isAlive(index) { tests.append(test) }
        } else if words.isAlive(index), !shape.isEmpty {
            helpers.append(SwiftFile.Helper(name: name, line: tokens[index].line, body: shape))
        }
        return end + 1
    }

    private func test(
        _ name: String, _ suite: String, _ index: Int, _ end: Int, _ shape: BodyShape, _ framework: TestShape.Framework,
        _ available: [String]
    ) -> TestShape {
        var conditions = words.conditions(at: index)
        // Where each branch begins the same body in its own way, one of them is compiled.
        if words.shared.contains(end) { conditions = words.conditions(at: end) }
        return TestShape(
            framework: framework, suite: suite, name: name, file: path, line: tokens[index].line,
            conditions: conditions.filter { Condition.value($0) != true } + available, body: shape)
    }

    private mutating func add(
        _ name: String, _ suite: String, _ index: Int, _ body: Range<Int>, _ shape: BodyShape, _ attribute: Attribute,
        _ scopes: [Scope], _ available: [String], hasParameters: Bool
    ) {
        guard words.isAlive(index) else { return }
        var test = self.test(name, suite, index, body.upperBound, shape, .swiftTesting, available)
        test.skips = scopes.flatMap(\.skips) + skips(in: attribute.arguments)
        test.hasArguments = hasParameters
        let given = attribute.arguments ?? body.lowerBound..<body.lowerBound
        test.cases = LiteralCounts.cases(in: given, words, named: literals)
        test.body.tolerances += BodyReader(words: words, literals: literals).tolerances(in: given)
        // A table that the arguments name belongs to the test.
        let tables = given.compactMap { literals[tokens[$0].text]?.range.prefix(4_000) }.prefix(2)
        test.words = WordBag((Array(given) + tables.joined() + Array(body)).map { tokens[$0].text })
        tests.append(test)
    }

    /// Traits that keep a test from running: `.disabled(…)`, `.enabled(if: …)`.
    private func skips(in range: Range<Int>?) -> [String] {
        guard let range else { return [] }
        return range.compactMap { index in
            guard index > 0, tokens[index - 1].isPunctuation("."),
                tokens[index].isWord("disabled") || tokens[index].isWord("enabled")
            else { return nil }
            guard index + 1 < range.upperBound, tokens[index + 1].isPunctuation("(") else {
                return "." + tokens[index].text
            }
            return "." + tokens[index].text + words.text(of: (index + 1)...words.partner[index + 1])
        }
    }

    /// Calls whose names begin so, with their arguments.
    private func skips(in range: Range<Int>, of prefix: String) -> [String] {
        range.compactMap { index in
            guard tokens[index].kind == .identifier, tokens[index].text.hasPrefix(prefix), words.isAlive(index),
                index + 1 < range.upperBound, tokens[index + 1].isPunctuation("(")
            else { return nil }
            return tokens[index].text + words.text(of: (index + 1)...words.partner[index + 1])
        }
    }
}

extension SwiftWords {
    /// The words of a range, joined without white space.
    func text(of range: ClosedRange<Int>, limit: Int = 400) -> String {
        var text = ""
        for index in range {
            let previous = index > range.lowerBound ? tokens[index - 1] : nil
            if let previous, previous.kind == .identifier || previous.kind == .number, tokens[index].kind == .identifier
            {
                text += " "
            }
            text += tokens[index].text
            if text.utf8.count > limit { return String(text.prefix(limit)) + "…" }
        }
        return text
    }
}

extension BodyShape {
    /// Whether it neither asserts nor calls anything that might.
    var isEmpty: Bool {
        assertions.isEmpty && failures.isEmpty && sleeps.isEmpty && tolerances.isEmpty
            && !calls.contains { Assertion.isAsserting($0.name) }
    }
}
