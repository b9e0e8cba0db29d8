import ForeignText

/// A test point of TAP: `not ok 3 - adds numbers # TODO later`.
struct TAPLine {
    var isOK: Bool
    var number: Int?
    var description: String
    /// The reason after `# SKIP`.
    var skip: String?
    /// The reason after `# TODO`.
    var todo: String?
    var seconds: Double?

    static func point(_ line: Substring) -> TAPLine? {
        let isOK = !line.hasPrefix("not ok")
        var rest = line.dropFirst(isOK ? 2 : 6)
        guard line.hasPrefix("ok") || !isOK, rest.isEmpty || rest.first == " " else { return nil }
        rest = rest.drop { $0 == " " }
        var point = TAPLine(isOK: isOK, description: "")
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let after = rest.dropFirst(digits.count)
        if !digits.isEmpty, digits.count <= 9, after.isEmpty || after.first == " " {
            point.number = Int(digits)
            rest = after.drop { $0 == " " }
        }
        if rest.first == "-", rest.count == 1 || rest.hasPrefix("- ") { rest = rest.dropFirst().drop { $0 == " " } }
        point.readDirective(&rest)
        var words = String(rest).trimmed
        // A subtest's line may open its block, as in node-tap's "ok 1 - title {".
        if words.hasSuffix(" {") { words.removeLast(2) }
        point.takeTime(&words)
        point.description = words.replacing("\\#", with: "#")
        return point
    }

    /// `# SKIP reason`, `# TODO reason`, node-tap's `# time=12ms`.
    private mutating func readDirective(_ rest: inout Substring) {
        var search = rest.startIndex
        while let hash = rest[search...].firstIndex(of: "#") {
            search = rest.index(after: hash)
            if hash > rest.startIndex, rest[rest.index(before: hash)] == "\\" { continue }
            let words = rest[search...].drop { $0 == " " }
            let word = words.prefix { $0.isLetter }.lowercased()
            let reason = String(words.dropFirst(word.count).drop { $0 == " " || $0 == ":" }).trimmed
            if word.hasPrefix("skip") {
                skip = reason
            } else if word == "todo" {
                todo = reason
            } else if word == "time", words.hasPrefix("time="), let time = Self.time(words.dropFirst(5)) {
                seconds = time
            } else {
                continue
            }
            rest = rest[..<hash]
            return
        }
    }

    /// bats' `name in 12ms`.
    private mutating func takeTime(_ words: inout String) {
        guard seconds == nil, words.hasSuffix("ms"), let mark = words.ranges(of: " in ").last,
            let time = Self.time(words[mark.upperBound...])
        else { return }
        seconds = time
        words = String(words[..<mark.lowerBound])
    }

    private static func time(_ text: Substring) -> Double? {
        let word = text.prefix { $0 != " " }
        if word.hasSuffix("ms") { return Seconds.ofMilliseconds(Double(word.dropLast(2))) }
        return word.hasSuffix("s") ? Seconds.bounded(Double(word.dropLast())) : nil
    }

    /// The number of tests of `1..3`; 0 for `1..0`.
    static func plan(_ line: Substring) -> Int? {
        guard line.hasPrefix("1..") else { return nil }
        let digits = line.dropFirst(3).prefix { $0.isASCII && $0.isNumber }
        let rest = line.dropFirst(3 + digits.count).drop { $0 == " " }
        guard (1...9).contains(digits.count), rest.isEmpty || rest.first == "#" || rest.hasPrefix("todo ")
        else { return nil }
        return Int(digits)
    }
}

/// The facts about a failure in a test point's YAML block or comments.
struct TAPDiagnostic {
    private var values: [String: String] = [:]

    /// The keys of a block's first level and of the level below: `error`, `at.line`. Of YAML, only `key: value`, quotes
    /// and block texts are read.
    init(_ lines: [String]) {
        var parent = ""
        var block: (key: String, indent: Int)?
        for line in lines.prefix(500) {
            let indent = line.prefix { $0 == " " }.count
            if let open = block {
                if indent > open.indent || line.allSatisfy(\.isWhitespace) {
                    values[open.key, default: ""] += line.dropFirst(open.indent + 2) + "\n"
                    continue
                }
                block = nil
            }
            guard let colon = line.firstIndex(of: ":"), indent <= 2 else { continue }
            let name = line[..<colon].dropFirst(indent)
            let value = String(line[line.index(after: colon)...]).trimmed
            let key = indent > 0 && !parent.isEmpty ? "\(parent).\(name)" : String(name)
            if indent == 0 { parent = String(name) }
            if ["|", "|-", ">", ">-", "|+"].contains(value) {
                block = (key, indent)
            } else if !value.isEmpty {
                values[key] = Self.unquoted(value)
            }
        }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, let first = text.first, first == text.last, first == "'" || first == "\"" else {
            return text
        }
        let inner = String(text.dropFirst().dropLast())
        return first == "'"
            ? inner.replacing("''", with: "'") : inner.replacing("\\n", with: "\n").replacing("\\\"", with: "\"")
    }

    private func first(_ keys: String...) -> String? {
        keys.lazy.compactMap { values[$0]?.trimmed }.first { !$0.isEmpty }
    }

    var stack: String? { first("stack", "trace") }

    var seconds: Double? { Seconds.ofMilliseconds(first("duration_ms", "time_ms").flatMap { Double($0) }) }

    /// The failure, completed by the values if the message lacks them.
    var message: String? {
        let actual = first("found", "actual", "got")
        let expected = first("wanted", "expected")
        guard let words = first("message", "error") else {
            guard let actual, let expected else { return nil }
            return "expected: \(expected)\nactual: \(actual)"
        }
        guard let actual, let expected, words.byteRange(of: expected) == nil || words.byteRange(of: actual) == nil
        else {
            return words
        }
        return "\(words)\nexpected: \(expected)\nactual: \(actual)"
    }

    var place: SourceLocator.Location? {
        if let file = first("at.file", "at.fileName", "file"),
            let line = first("at.line", "at.lineNumber", "line").flatMap({ Int($0) })
        {
            return SourceLocator.Location(file: file, line: line)
        }
        let stack = SourceLocator(suite: "").locate(in: [first("stack", "trace")])
        return stack ?? SourceLocator(suite: "").locate(in: [first("at", "location", "source")])
    }

    // MARK: Comments

    /// The comment lines as text.
    static func text(ofComments lines: [String]) -> String {
        lines.map { $0.hasPrefix(" ") ? $0.dropFirst() : $0[...] }.joined(separator: "\n")
    }

    /// The text of Test::More, bats and pytest-tap below a failed test.
    static func message(inComments lines: [String]) -> String? {
        let text = text(ofComments: lines)
        if let exception = FailureText.exception(inTraceback: text) { return exception }
        let marked = lines.filter { $0.trimmed.hasPrefix("E  ") }.map { String($0.trimmed.dropFirst()).trimmed }
        if !marked.isEmpty { return marked.prefix(12).joined(separator: "\n") }
        var kept: [String] = []
        for line in lines.map(\.trimmed) where kept.count < 12 {
            let isFrame =
                line.hasPrefix("Failed test") || line.hasPrefix("at ") && line.contains(" line ") || line.hasPrefix("'")
                || line.hasPrefix("(in test file") || line.hasPrefix("(from function") || line.isEmpty
                || line.hasPrefix("Looks like you ")
            if !isFrame { kept.append(line) }
        }
        return kept.isEmpty ? nil : kept.joined(separator: "\n")
    }

    /// Perl's `at t/a.t line 5.`, bats' `(in test file a.bats, line 5)`.
    static func place(inComments lines: [String]) -> SourceLocator.Location? {
        for line in lines.map(\.trimmed) {
            for (start, middle) in [("at ", " line "), ("in test file ", ", line ")] {
                guard let from = line.byteRange(of: start), let to = line[from.upperBound...].byteRange(of: middle),
                    let number = Int(line[to.upperBound...].prefix { $0.isASCII && $0.isNumber })
                else { continue }
                let file = String(line[from.upperBound..<to.lowerBound])
                if !file.isEmpty, number > 0, !file.contains("(") { return .init(file: file, line: number) }
            }
        }
        return nil
    }
}
