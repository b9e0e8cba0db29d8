/// What a Swift file declares that may stand in the way of tests elsewhere: names and classes, without judgement.
struct SwiftOutline: Sendable, Equatable {
    /// A name that is declared, at any depth.
    struct Declaration: Sendable, Equatable {
        /// `func`, `let`, `macro`, `class` and so on; `parameter` for what a closure or function takes.
        var kind: String
        var name: String
        /// From 1.
        var line: Int
        /// Whether no type or body is around it.
        var isTopLevel: Bool
    }

    /// What one declaration or extension says of a class.
    struct ClassPart: Sendable, Equatable {
        /// With the types around it, joined by dots.
        var name: String
        /// What follows its colon; of names with dots the last part.
        var bases: [String]
        /// Why tests of the class, or of one below it, do not run or can't fail.
        var skips: [String] = []
    }

    var declarations: [Declaration] = []
    var classes: [ClassPart] = []

    init(_ words: SwiftWords) {
        declarations = words.declarations()
        classes = ClassReader(words: words).read()
    }
}

extension SwiftWords {
    private static let keywords: Set<String> = [
        "func", "var", "let", "macro", "class", "struct", "enum", "actor", "protocol", "typealias",
    ]

    /// Each declared name; what is never compiled is left out.
    func declarations() -> [SwiftOutline.Declaration] {
        var found: [SwiftOutline.Declaration] = []
        var depth = 0
        for index in tokens.indices {
            let token = tokens[index]
            if token.isPunctuation("{") { depth += 1 }
            if token.isPunctuation("}") { depth -= 1 }
            guard index + 1 < tokens.count, isAlive(index) else { continue }
            let next = tokens[index + 1]
            func add(_ kind: String, _ token: SwiftToken) {
                found.append(
                    SwiftOutline.Declaration(
                        kind: kind, name: token.text, line: token.line, isTopLevel: depth == 0))
            }
            if token.kind == .identifier, Self.keywords.contains(token.text), !isMember(index) {
                if next.kind == .identifier || next.kind == .operator {
                    add(token.text, next)
                } else if next.isPunctuation("("), partner[index + 1] > index, ["let", "var"].contains(token.text) {
                    // A pattern of several.
                    for place in (index + 2)..<partner[index + 1] where tokens[place].kind == .identifier {
                        add(token.text, tokens[place])
                    }
                }
            } else if token.kind == .identifier, next.isPunctuation(":") || next.isWord("in") {
                add("parameter", token)
            }
        }
        return found
    }

    private func isMember(_ index: Int) -> Bool { index > 0 && tokens[index - 1].isPunctuation(".") }
}

/// Finds classes, their bases, and what in them keeps tests from running.
private struct ClassReader {
    let words: SwiftWords
    private var tokens: [SwiftToken] { words.tokens }

    init(words: SwiftWords) { self.words = words }

    private struct Open {
        var place: Int
        var end: Int
        var path: String
    }

    func read() -> [SwiftOutline.ClassPart] {
        var parts: [SwiftOutline.ClassPart] = []
        var open: [Open] = []
        for index in tokens.indices where tokens[index].kind == .identifier {
            while let last = open.last, index >= last.end { open.removeLast() }
            guard words.isAlive(index), index == 0 || !tokens[index - 1].isPunctuation(".") else { continue }
            switch tokens[index].text {
            case "class", "struct", "enum", "extension", "actor":
                guard let (name, bases, body) = head(at: index) else { continue }
                let path = open.last.map { "\($0.path).\(name)" } ?? name
                open.append(Open(place: parts.count, end: words.partner[body], path: path))
                parts.append(SwiftOutline.ClassPart(name: path, bases: tokens[index].text == "class" ? bases : []))
            case "func", "var":
                guard let part = open.last?.place, let skip = skip(at: index) else { continue }
                parts[part].skips.append(skip)
            default: continue
            }
        }
        return parts.filter { !$0.bases.isEmpty || !$0.skips.isEmpty }
    }

    /// A type's name, what follows its colon, and the place of its `{`.
    private func head(at index: Int) -> (name: String, bases: [String], body: Int)? {
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
        var bases: [String] = []
        var isBehindColon = false
        while at < tokens.count, !tokens[at].isPunctuation("{") {
            let token = tokens[at]
            if token.isPunctuation("}") || token.isPunctuation(";") { return nil }
            if token.isWord("where") { isBehindColon = false }
            if isBehindColon, token.kind == .identifier {
                if tokens[at - 1].isPunctuation("."), !bases.isEmpty { bases.removeLast() }
                bases.append(token.text)
            }
            if token.isPunctuation(":") { isBehindColon = true }
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        guard at < tokens.count, words.partner[at] > at else { return nil }
        return (name, bases, at)
    }

    /// Why a member keeps the tests of its class from running, or from failing; nil for all others.
    private func skip(at index: Int) -> String? {
        guard index + 1 < tokens.count, let body = body(after: index) else { return nil }
        let name = tokens[index + 1].text
        switch (tokens[index].text, name) {
        case ("var", "defaultTestSuite"), ("var", "testInvocations"):
            return calls(name, in: body) ? nil : "its own \(name)"
        case ("func", "invokeTest"), ("func", "run"), ("func", "perform"):
            guard isOverride(index), !calls(name, in: body) else { return nil }
            return "an override of \(name)() that runs no test"
        case ("func", "record"), ("func", "recordFailure"):
            guard isOverride(index), !calls(name, in: body) else { return nil }
            return "an override of \(name)() that records no failure"
        case ("func", "setUp"), ("func", "setUpWithError"), ("func", "tearDown"), ("func", "tearDownWithError"):
            return body.lazy.compactMap { call(at: $0, below: body.upperBound) }.first
        default: return nil
        }
    }

    /// A call in `setUp` that skips the test or ends the process.
    private func call(at index: Int, below end: Int) -> String? {
        let token = tokens[index]
        guard token.kind == .identifier, token.text.hasPrefix("XCTSkip") || ["exit", "_exit"].contains(token.text),
            words.isAlive(index), index + 1 < end, tokens[index + 1].isPunctuation("(")
        else { return nil }
        return token.text + words.text(of: (index + 1)...words.partner[index + 1])
    }

    private func isOverride(_ index: Int) -> Bool {
        var at = index - 1
        while at >= 0, tokens[at].kind == .identifier, index - at < 10 {
            if tokens[at].isWord("override") { return true }
            at -= 1
        }
        return false
    }

    private func calls(_ name: String, in body: Range<Int>) -> Bool {
        body.dropLast(2).contains { place in
            tokens[place].isWord("super") && tokens[place + 1].isPunctuation(".") && tokens[place + 2].isWord(name)
        }
    }

    /// The body of a member, without its braces; nil where the next declaration comes first.
    private func body(after index: Int) -> Range<Int>? {
        var at = index + 2
        while at < tokens.count, !tokens[at].isPunctuation("{") {
            if tokens[at].isPunctuation("}") || tokens[at].isWord("func") || tokens[at].isWord("var") { return nil }
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        guard at < tokens.count, words.partner[at] > at else { return nil }
        return (at + 1)..<words.partner[at]
    }
}
