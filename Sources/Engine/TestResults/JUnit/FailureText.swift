/// Finds the sentence a failure is about in what its writer put where.
enum FailureText {
    /// Messages that say no more than the element's name.
    private static let empty: Set<String> = ["", "failure", "failed", "error", "test failed", "test failure"]

    static func message(attribute: String?, type: String?, text: String, test: String) -> String? {
        let given = (attribute ?? "").trimmed
        guard !empty.contains(given.lowercased()) else {
            return saidByGo(text) ?? firstParagraph(text, test: test)
                ?? type.flatMap { $0.trimmed.isEmpty ? nil : $0.trimmed }
                ?? (given.isEmpty ? nil : given)
        }
        if given == "collection failure", let cause = pytestCause(text) { return cause }
        if given.hasPrefix("thread '"), let said = saidByRust(text) { return said }
        guard let end = given.firstIndex(of: "\n") else { return given }
        // GoogleTest repeats the place in the message's first line.
        let first = given[..<end]
        if !first.contains(" "), let colon = first.lastIndex(of: ":"), Int(first[colon...].dropFirst()) != nil {
            return String(given[end...]).trimmed
        }
        return assertion(inLog: given) ?? given
    }

    /// Why a test did not run.
    static func reason(attribute: String?, text: String) -> String? {
        let given = (attribute ?? "").trimmed
        if let said = saidByGo(given) { return said }
        return given.isEmpty ? (text.isEmpty ? nil : text) : given
    }

    /// pytest marks what went wrong with `E   ` at the line's start.
    private static func pytestCause(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("E  ") }.map { String($0.dropFirst(2)).trimmed }
    }

    /// What follows Rust's `thread '…' panicked at src/lib.rs:4:5:`.
    private static func saidByRust(_ text: String) -> String? {
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
            if line.isEmpty || line.hasPrefix("stack backtrace:") || line.hasPrefix("note: ") || lines.count == 8 {
                break
            }
            lines.append(line)
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// `A.b : XCTAssert… failed` out of the console output that SwiftPM can put into a message.
    private static func assertion(inLog log: String) -> String? {
        guard log.hasPrefix("Test Suite ") else { return nil }
        for line in log.split(separator: "\n") {
            guard let mark = line.byteRange(of: ": error: ") else { continue }
            let rest = line[mark.upperBound...]
            guard let colon = rest.byteRange(of: " : ") else { return String(rest) }
            return String(rest[colon.upperBound...]).trimmed
        }
        return nil
    }

    /// What a Go test said with `t.Error` and `t.Fatal`, or why it panicked: gotestsum's message is only "Failed".
    private static func saidByGo(_ text: String) -> String? {
        guard text.hasPrefix("=== RUN") else { return nil }
        var said: [Substring] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("panic: ") { return String(line.dropFirst(7)) }
            let words = line.drop { $0 == " " || $0 == "\t" }
            guard words.count < line.count, said.count < 5, let mark = words.byteRange(of: ".go:") else { continue }
            let rest = words[mark.upperBound...].drop { $0.isNumber }
            if rest.hasPrefix(": ") { said.append(rest.dropFirst(2)) }
        }
        return said.isEmpty ? nil : said.joined(separator: "\n")
    }

    /// The text up to its first blank line, without PHPUnit's line that repeats the test's name.
    private static func firstParagraph(_ text: String, test: String) -> String? {
        var lines: [Substring] = []
        guard !text.hasPrefix("=== RUN") else { return nil }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                if lines.isEmpty { continue }
                break
            }
            if lines.isEmpty, line.contains("::" + test) { continue }
            lines.append(line)
            if lines.count == 5 { break }
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}
