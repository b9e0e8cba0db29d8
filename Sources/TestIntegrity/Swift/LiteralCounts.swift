/// How many elements literal collections have: the rounds of a loop, the cases of a test with arguments.
enum LiteralCounts {
    /// More is counted as so many; nobody needs to know the difference.
    static let limit = 1_000_000

    /// A value with a name, `let cases = [1, 2, 3]`: its words, and its elements where it is a literal collection.
    struct Named: Sendable {
        var count: Int?
        var range: Range<Int>
    }

    /// What a file gives names, by name.
    static func named(in words: SwiftWords) -> [String: Named] {
        var named: [String: Named] = [:]
        let tokens = words.tokens
        for index in tokens.indices.dropLast(3)
        where tokens[index].isWord("let") || tokens[index].isWord("var") {
            guard tokens[index + 1].kind == .identifier else { continue }
            var at = index + 2
            // A type in between: `: [(Int, String)]`.
            if tokens[at].isPunctuation(":") {
                at += 1
                while at < tokens.count, !(tokens[at].kind == .operator && tokens[at].text == "="),
                    at - index < 40
                {
                    if tokens[at].isPunctuation("{") { break }
                    at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
                }
            }
            guard at + 1 < tokens.count, tokens[at].kind == .operator, tokens[at].text == "=" else { continue }
            let end = expressionEnd(from: at + 1, words)
            let range = (at + 1)..<max(at + 1, end)
            named[tokens[index + 1].text] = Named(count: count(of: range, words, named: named), range: range)
        }
        return named
    }

    private static func expressionEnd(from start: Int, _ words: SwiftWords) -> Int {
        let tokens = words.tokens
        var at = start
        var steps = 0
        while at < tokens.count, steps < BodyReader.headerLimit {
            steps += 1
            if words.partner[at] > at {
                at = words.partner[at] + 1
                continue
            }
            if words.partner[at] >= 0 || tokens[at].isPunctuation(";") { break }
            if at > start, tokens[at].startsLine, tokens[at].kind != .operator, !tokens[at].isPunctuation(".") { break }
            at += 1
        }
        return at
    }

    /// The elements of the collection that a range of words is; nil if that is not written there.
    static func count(of range: Range<Int>, _ words: SwiftWords, named: [String: Named]) -> Int? {
        let tokens = words.tokens
        guard let first = range.first, first < tokens.count else { return nil }
        if tokens[first].isPunctuation("("), words.partner[first] == range.upperBound - 1 {
            return count(of: (first + 1)..<(range.upperBound - 1), words, named: named)
        }
        if tokens[first].isPunctuation("["), let end = Optional(words.partner[first]), end < range.upperBound {
            // `[…].lazy` and `[…] as [T]` have as many; a call with arguments could make others of them.
            let rest = (end + 1)..<range.upperBound
            if rest.contains(where: {
                tokens[$0].isPunctuation("(") || tokens[$0].isPunctuation("[") && !tokens[$0].isSpaced
            })
                || rest.contains(where: { tokens[$0].kind == .operator })
            {
                return nil
            }
            return elements(in: (first + 1)..<end, words)
        }
        if let dots = range.first(where: { tokens[$0].kind == .operator && ["...", "..<"].contains(tokens[$0].text) }),
            dots == range.lowerBound + 1, range.count == 3, let from = integer(tokens[first]),
            let to = integer(tokens[dots + 1])
        {
            let (length, isTooLarge) = to.subtractingReportingOverflow(from)
            guard !isTooLarge, length >= 0 else { return nil }
            return min(limit, tokens[dots].text == "..." ? length + (length < limit ? 1 : 0) : length)
        }
        if range.count == 1, tokens[first].kind == .identifier { return named[tokens[first].text]?.count }
        // `Self.cases`, `cases.enumerated()`, `stride(from: 0, to: 10, by: 1)` is not counted.
        if range.count == 3, tokens[first].isWord("Self") || tokens[first].isWord("self"),
            tokens[first + 1].isPunctuation(".")
        {
            return named[tokens[first + 2].text]?.count
        }
        if range.count == 5, tokens[first].kind == .identifier, tokens[first + 1].isPunctuation("."),
            ["enumerated", "shuffled", "reversed", "sorted"].contains(tokens[first + 2].text)
        {
            return named[tokens[first].text]?.count
        }
        return nil
    }

    private static func integer(_ token: SwiftToken) -> Int? {
        guard token.kind == .number else { return nil }
        return Int(token.text.filter { $0 != "_" })
    }

    /// Commas at the top, and one more; a trailing one does not count.
    static func elements(in range: Range<Int>, _ words: SwiftWords) -> Int {
        guard !range.isEmpty else { return 0 }
        var commas = 0
        var at = range.lowerBound
        while at < range.upperBound {
            if words.tokens[at].isPunctuation(","), at + 1 < range.upperBound { commas += 1 }
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        // `[:]`
        if range.count == 1, words.tokens[range.lowerBound].isPunctuation(":") { return 0 }
        return commas + 1
    }

    /// The cases that `@Test(…, arguments: …)` makes: all pairs of two collections, or as many as `zip` finds.
    static func cases(in range: Range<Int>, _ words: SwiftWords, named: [String: Named]) -> Int? {
        let tokens = words.tokens
        guard
            let label = range.first(where: {
                tokens[$0].isWord("arguments") && $0 + 1 < range.upperBound
                    && tokens[$0 + 1].isPunctuation(":") && !tokens[$0].isPunctuation(".")
            })
        else { return nil }
        var cases = 1
        for part in parts(of: (label + 2)..<range.upperBound, words) {
            if part.count > 2, tokens[part.lowerBound].isWord("zip"), tokens[part.lowerBound + 1].isPunctuation("(") {
                let inner = (part.lowerBound + 2)..<words.partner[part.lowerBound + 1]
                let counts = parts(of: inner, words).map { count(of: $0, words, named: named) }
                guard let least = counts.compactMap({ $0 }).min() else { return nil }
                cases = min(limit, cases * least)
                continue
            }
            guard let count = count(of: part, words, named: named) else { return nil }
            cases = min(limit, cases * count)
        }
        return cases
    }

    /// The arguments of a list, without their labels.
    static func parts(of range: Range<Int>, _ words: SwiftWords) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        var at = start
        while at < range.upperBound {
            if words.tokens[at].isPunctuation(",") {
                parts.append(start..<at)
                start = at + 1
            }
            at = words.partner[at] > at ? words.partner[at] + 1 : at + 1
        }
        if start < range.upperBound { parts.append(start..<range.upperBound) }
        return parts
    }
}
