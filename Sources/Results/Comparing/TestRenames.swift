/// Recognises tests that vanished under one name and are present under another.
///
/// Two tests are the same if their bodies are the same except for white space. They also are if the test keeps its own
/// name in another suite or file, or if it keeps most of its name and most of its body. A similar name alone is not
/// enough.
public struct TestRenames {
    /// The texts of the files that the change touches, before and after it. They are paired by Git's rename detection.
    public struct Sources: Sendable {
        /// The texts before the change.
        public var before: [String]
        /// The texts after the change.
        public var after: [String]

        public init(before: [String], after: [String]) {
            self.before = before
            self.after = after
        }
    }

    private let before: [String]
    private let after: [String]

    public init(_ sources: Sources) {
        before = sources.before
        after = sources.after
    }

    /// Pairs each vanished test with at most one added test, the most certain pairs first.
    public func pairs(vanished: [String], added: [String]) -> [Comparison.Rename] {
        // All pairs are compared, so the number is limited. Nobody renames a thousand tests one by one.
        let (vanished, added) = (Array(vanished.prefix(300)), Array(added.prefix(300)))
        guard !vanished.isEmpty, !added.isEmpty else { return [] }
        let old = vanished.map { Body(of: $0, in: before) }
        let new = added.map { Body(of: $0, in: after) }
        var scored: [(score: Double, from: Int, to: Int, isSame: Bool)] = []
        for (from, one) in old.enumerated() {
            for (to, other) in new.enumerated() {
                if let (score, isSame) = one.likeness(to: other) { scored.append((score, from, to, isSame)) }
            }
        }
        var (usedFrom, usedTo): (Set<Int>, Set<Int>) = ([], [])
        var pairs: [Comparison.Rename] = []
        for pair in scored.sorted(by: { ($1.score, $0.from, $0.to) < ($0.score, $1.from, $1.to) })
        where !usedFrom.contains(pair.from) && !usedTo.contains(pair.to) {
            usedFrom.insert(pair.from)
            usedTo.insert(pair.to)
            pairs.append(.init(from: vanished[pair.from], to: added[pair.to], hasSameBody: pair.isSame))
        }
        return pairs
    }
}

extension TestRenames {
    /// A test's name and the lines of its body.
    struct Body {
        let suite: Substring
        let name: Substring
        /// Nil if no text declares the test.
        let lines: [Substring]?

        init(of id: String, in texts: [String]) {
            let end = id.lastIndex(of: "/")
            suite = end.map { id[..<$0] } ?? ""
            let last = end.map { id[id.index(after: $0)...] } ?? id[...]
            // Without the parameters of a single case, and without the punctuation that Swift adds to a name.
            name = last.prefix { $0 != "(" && $0 != "[" }.drop { $0 == "`" }.prefix { $0 != "`" }
            lines = texts.lazy.compactMap { [name] in Self.body(of: name, in: $0) }.first
        }

        /// How certain it is that `other` is the same test; nil if it is not.
        func likeness(to other: Body) -> (Double, isSame: Bool)? {
            let names = Self.similarity(Self.words(name), Self.words(other.name))
            if let lines, let others = other.lines {
                if lines == others, !lines.isEmpty { return (2 + names, true) }
                let bodies = Self.similarity(lines, others)
                if name == other.name, bodies >= 0.3 { return (1 + bodies, false) }
                return names >= 0.5 && bodies >= 0.8 ? (names * bodies, false) : nil
            }
            return name == other.name ? (0.5 + Self.similarity(Self.words(suite), Self.words(other.suite)), false) : nil
        }

        /// The lines between the braces, or of the indented block, after the declaration of `name`.
        static func body(of name: Substring, in text: String) -> [Substring]? {
            guard !name.isEmpty, text.utf8.count <= 1 << 20 else { return nil }
            let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
            let words = ["func \(name)(", "func `\(name)`(", "def \(name)(", "fn \(name)(", "void \(name)("]
            guard let start = lines.firstIndex(where: { line in words.contains { line.contains($0) } }) else {
                return nil
            }
            let isPython = lines[start].contains("def ") && !lines[start].contains("{")
            let indent = lines[start].prefix { $0 == " " || $0 == "\t" }.count
            var (depth, hasOpened): (Int, Bool) = (0, false)
            var body: [Substring] = []
            for (index, line) in lines[start...].enumerated() {
                let bare = line.drop { $0 == " " || $0 == "\t" }
                if isPython {
                    if index > 0 {
                        if !bare.isEmpty, line.count - bare.count <= indent { break }
                        if !bare.isEmpty { body.append(bare) }
                    }
                } else {
                    depth += line.count { $0 == "{" } - line.count { $0 == "}" }
                    if index > 0, !bare.isEmpty, depth > 0 || !hasOpened { body.append(bare) }
                    // A body on the same line as its declaration.
                    if index == 0, line.contains("{"), depth <= 0, let open = line.firstIndex(of: "{") {
                        return [line[open...]]
                    }
                    hasOpened = hasOpened || line.contains("{")
                    if hasOpened, depth <= 0 { break }
                }
                if body.count > 500 { break }
            }
            return body
        }

        /// The words of a name: `testReadsAFile` has test, reads, a and file.
        static func words(_ name: Substring) -> [String] {
            var words: [String] = []
            var current = ""
            for character in name {
                if !character.isLetter && !character.isNumber {
                    if !current.isEmpty { words.append(current) }
                    current = ""
                    continue
                }
                if character.isUppercase, !current.isEmpty {
                    words.append(current)
                    current = ""
                }
                current += character.lowercased()
            }
            if !current.isEmpty { words.append(current) }
            return words
        }

        /// Dice's coefficient of both as multisets: 1 if they are equal, 0 if they have nothing in common.
        static func similarity<Item: Hashable>(_ one: [Item], _ other: [Item]) -> Double {
            guard !one.isEmpty, !other.isEmpty else { return one.isEmpty && other.isEmpty ? 1 : 0 }
            var counts: [Item: Int] = [:]
            for item in one { counts[item, default: 0] += 1 }
            var common = 0
            for item in other where (counts[item] ?? 0) > 0 {
                counts[item, default: 0] -= 1
                common += 1
            }
            return Double(2 * common) / Double(one.count + other.count)
        }
    }
}
