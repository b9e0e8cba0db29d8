/// Tests in languages other than Swift: their names and skips, read line by line. Assertions in their bodies are not
/// counted.
enum LineTests {
    static func tests(path: String, bytes: [UInt8]) -> [TestShape] {
        let lines = SourceLines.split(bytes).map { String($0.prefix(2_000)) }
        guard let language = Language(path) else { return [] }
        var tests: [TestShape] = []
        var starts: [Int] = []
        var suite = ""
        var isComment = false
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if language.skipsBlock(text, &isComment) { continue }
            if language == .python, line.hasPrefix("class ") { suite = word(after: "class ", in: text) }
            guard let name = language.name(text, before: lines, index) else { continue }
            let isInside = line.first == " " || line.first == "\t"
            var skips: [String] = []
            for line in language.above(index, in: lines) + [line] {
                if let skip = language.skip(line) { skips.append(skip) }
            }
            var test = TestShape(
                framework: .other, suite: language == .python && isInside ? suite : "", name: name, file: path,
                line: index + 1)
            test.skips = skips
            tests.append(test)
            starts.append(index)
        }
        for (place, start) in starts.enumerated() {
            let next = place + 1 < starts.count ? starts[place + 1] : lines.count
            let body = lines[start..<end(of: start, in: lines, before: min(next, start + 400))]
            for line in body.dropFirst() where language.skipsInside(line) { tests[place].skips.append(trimmed(line)) }
            // Leave out the line with the name, so that a renamed test still matches.
            var words: [String] = []
            for line in body.dropFirst() {
                words += line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            }
            tests[place].words = WordBag(words)
        }
        return tests
    }

    /// The line after the body that begins at `start`, by indentation. Code after a test must not count as a part of
    /// it: a test that becomes a helper would otherwise seem to live on in the test before it.
    private static func end(of start: Int, in lines: [String], before limit: Int) -> Int {
        let indent = lines[start].prefix { $0 == " " || $0 == "\t" }.count
        var at = start + 1
        while at < limit {
            let text = lines[at].drop { $0 == " " || $0 == "\t" }
            // Brackets that close the signature or the body, and a brace on a line of its own, belong to the body.
            if let first = text.first, lines[at].count - text.count <= indent, !"{})]".contains(first) { return at }
            at += 1
        }
        return limit
    }

    fileprivate static func trimmed(_ line: String) -> String {
        String(line.drop { $0 == " " || $0 == "\t" }.prefix(120))
    }

    fileprivate static func word(after prefix: String, in text: Substring) -> String {
        String(text.dropFirst(prefix.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    private enum Language {
        case python, rust, go, javaScript, cpp

        init?(_ path: String) {
            switch path.split(separator: ".").last.map(String.init) {
            case "py": self = .python
            case "rs": self = .rust
            case "go": self = .go
            case "js", "jsx", "ts", "tsx", "mjs": self = .javaScript
            case "cc", "cpp", "cxx": self = .cpp
            default: return nil
            }
        }

        func skipsBlock(_ text: Substring, _ isComment: inout Bool) -> Bool {
            if self == .python { return text.hasPrefix("#") }
            if isComment {
                if text.contains("*/") { isComment = false }
                return true
            }
            if text.hasPrefix("/*") {
                isComment = !text.contains("*/")
                return true
            }
            return text.hasPrefix("//")
        }

        func name(_ text: Substring, before lines: [String], _ index: Int) -> String? {
            switch self {
            case .python:
                for prefix in ["def test", "async def test"] where text.hasPrefix(prefix) {
                    return "test" + LineTests.word(after: prefix, in: text)
                }
            case .go:
                if text.hasPrefix("func Test") { return "Test" + LineTests.word(after: "func Test", in: text) }
            case .rust:
                let start = text.hasPrefix("pub ") ? text.dropFirst(4) : text
                for prefix in ["fn ", "async fn "] where start.hasPrefix(prefix) {
                    let marks = ["test]", "test(", "rstest"]
                    let isTest = above(index, in: lines).contains { line in marks.contains { line.contains($0) } }
                    guard isTest else { return nil }
                    return LineTests.word(after: prefix, in: start)
                }
            case .javaScript:
                for prefix in [
                    "it(", "test(", "it.only(", "test.only(", "it.skip(", "test.skip(", "xit(", "xtest(", "it.todo(",
                    "test.todo(",
                ] where text.hasPrefix(prefix) {
                    guard let quote = text.dropFirst(prefix.count).first, "\"'`".contains(quote) else { return nil }
                    return String(text.dropFirst(prefix.count + 1).prefix { $0 != quote })
                }
            case .cpp:
                for prefix in ["TEST(", "TEST_F(", "TEST_P(", "TEST_CASE("] where text.hasPrefix(prefix) {
                    return String(text.dropFirst(prefix.count).prefix { $0 != ")" }).replacingDisabled
                }
            }
            return nil
        }

        /// The lines directly above a declaration that belong to it, nearest first.
        func above(_ index: Int, in lines: [String]) -> [String] {
            var found: [String] = []
            var at = index - 1
            while at >= 0, found.count < 8, belongs(String(lines[at].drop { $0 == " " || $0 == "\t" })) {
                found.append(lines[at])
                at -= 1
            }
            return found
        }

        private func belongs(_ line: String) -> Bool {
            switch self {
            case .python: line.hasPrefix("@") || line.hasPrefix(")") || line.contains("skip")
            case .rust: line.hasPrefix("#[")
            default: false
            }
        }

        func skip(_ line: String) -> String? {
            let text = line.drop { $0 == " " || $0 == "\t" }
            let isSkip =
                switch self {
                case .python:
                    text.hasPrefix("@") && ["skip", "xfail", "expectedFailure"].contains { text.contains($0) }
                case .rust: text.hasPrefix("#[ignore") || text.hasPrefix("#[cfg_attr") && text.contains("ignore")
                case .javaScript:
                    [".skip(", ".todo(", "xit(", "xtest("].contains { text.prefix(12).contains($0) }
                case .cpp: text.contains("DISABLED_")
                case .go: false
                }
            return isSkip ? LineTests.trimmed(line) : nil
        }

        func skipsInside(_ line: String) -> Bool {
            switch self {
            case .python:
                line.contains("pytest.skip(") || line.contains("self.skipTest(") || line.contains("pytest.xfail(")
            case .go: line.contains("t.Skip(") || line.contains("t.SkipNow(") || line.contains("t.Skipf(")
            case .cpp: line.contains("GTEST_SKIP(")
            case .javaScript: line.contains("this.skip(")
            case .rust: false
            }
        }
    }
}

extension String {
    /// The name without GoogleTest's prefix `DISABLED_`: with it, it is still the same test.
    fileprivate var replacingDisabled: String {
        var text = self
        if let range = text.firstRange(of: "DISABLED_") { text.removeSubrange(range) }
        return text
    }
}
