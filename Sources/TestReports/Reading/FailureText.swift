import ForeignText

/// Finds the sentence that describes a failure, which each tool writes in another place.
enum FailureText {
    /// Messages that repeat only the element's name.
    private static let empty: Set<String> = ["", "failure", "failed", "error", "test failed", "test failure"]

    /// The number of lines of a message that are searched for in the text beside it.
    private static let mostLines = 12

    static func message(attribute: String?, type: String?, text: String, test: String) -> String? {
        let given = (attribute ?? "").trimmed
        guard !empty.contains(given.lowercased()) else {
            return saidByGo(text) ?? exception(inTraceback: text) ?? firstParagraph(text, test: test)
                ?? type.flatMap { $0.trimmed.isEmpty ? nil : $0.trimmed }
                ?? (given.isEmpty ? nil : given)
        }
        if given == "collection failure", let cause = pytestCause(text) { return cause }
        if given.hasPrefix("thread '"), let said = saidByRust(text) { return said }
        guard let end = given.firstIndex(of: "\n") else { return given }
        if let exception = exception(inTraceback: given) { return exception }
        // GoogleTest repeats the location in the message's first line.
        let first = given[..<end]
        if !first.contains(" "), let colon = first.lastIndex(of: ":"), Int(first[colon...].dropFirst()) != nil {
            return String(given[end...]).trimmed
        }
        return assertion(inLog: given) ?? withoutFrames(given)
    }

    /// Why a test was skipped.
    static func reason(attribute: String?, text: String) -> String? {
        let given = (attribute ?? "").trimmed
        if let said = saidByGo(given) { return said }
        return given.isEmpty ? (text.isEmpty ? nil : text) : given
    }

    /// pytest marks the failure with `E   ` at the start of a line.
    private static func pytestCause(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("E  ") }.map { String($0.dropFirst(2)).trimmed }
    }

    /// The line after the frames of the last Python traceback in `text`: `ValueError: bad input 42`.
    ///
    /// If a traceback follows another one, the earlier one is its cause.
    static func exception(inTraceback text: String) -> String? {
        var rest = text[...]
        while let mark = rest.byteRange(of: "Traceback (most recent call last):") { rest = rest[mark.upperBound...] }
        guard rest.startIndex > text.startIndex else { return nil }
        var lines: [Substring] = []
        for line in rest.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
            let isIndented = line.first == " " || line.first == "\t" || line.hasPrefix("| ")
            if lines.isEmpty, isIndented || line.isEmpty { continue }
            // An assertion may show its values below. The test's output follows after a blank line.
            if line.allSatisfy(\.isWhitespace) || lines.count == mostLines { break }
            lines.append(line)
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n").trimmed
    }

    /// The text before its first stack frame: `    at f (src/a.js:3:5)`, `\tat org.junit.…`.
    static func withoutFrames(_ text: String) -> String {
        var end = text.startIndex
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.drop { $0 == " " || $0 == "\t" }
            if words.startIndex != line.startIndex, words.hasPrefix("at ") {
                let message = String(text[..<line.startIndex]).trimmed
                return message.isEmpty ? text : message
            }
            end = line.endIndex
        }
        return String(text[..<end])
    }

    /// The text after Rust's `thread '…' panicked at src/lib.rs:4:5:`.
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

    /// `A.b : XCTAssert… failed` from the console output that SwiftPM can put into a message.
    private static func assertion(inLog log: String) -> String? {
        guard log.hasPrefix("Test Suite ") else { return nil }
        for line in log.split(separator: "\n") {
            guard let mark = line.byteRange(of: ": error: ") else { continue }
            let rest = line[mark.upperBound...]
            guard let colon = rest.byteRange(of: " : ") else { return String(rest) }
            return XCTestMessage.whole(from: log[mark.upperBound...][colon.upperBound...])
        }
        return nil
    }

    /// The text of `t.Error` and `t.Fatal`, or the reason of a panic. gotestsum's own message is only "Failed".
    static func saidByGo(_ text: String) -> String? {
        guard text.hasPrefix("=== RUN") else { return nil }
        var said: [Substring] = []
        var isInMessage = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("panic: ") { return String(line.dropFirst(7)) }
            let words = line.drop { $0 == " " || $0 == "\t" }
            let isIndented = words.count < line.count
            if isIndented, let mark = words.byteRange(of: ".go:"),
                words[mark.upperBound...].drop(while: \.isNumber).hasPrefix(": ")
            {
                isInMessage = said.count < mostLines
                if isInMessage { said.append(words[mark.upperBound...].drop { $0.isNumber }.dropFirst(2)) }
            } else if isInMessage, isIndented, !words.hasPrefix("--- "), said.count < mostLines {
                // Go indents continuation lines of a message.
                said.append(words)
            } else {
                isInMessage = false
            }
        }
        return said.isEmpty ? nil : said.joined(separator: "\n")
    }

    /// The text up to its first blank line, without PHPUnit's line with the test's name, and without a stack trace.
    private static func firstParagraph(_ text: String, test: String) -> String? {
        var lines: [Substring] = []
        guard !text.hasPrefix("=== RUN") else { return nil }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                if lines.isEmpty { continue }
                break
            }
            if lines.isEmpty, line.contains("::" + test) || isTitle(line) { continue }
            lines.append(line)
            if lines.count == mostLines { break }
        }
        return lines.isEmpty ? nil : dedented(withoutFrames(lines.joined(separator: "\n")))
    }

    /// Jest's heading of a file that it could not load. The next paragraph says why.
    private static func isTitle(_ line: Substring) -> Bool {
        let words = line.drop { $0 == " " || $0 == "●" }
        return words == "Test suite failed to run"
    }

    /// The text without the indentation that all its lines share.
    private static func dedented(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let indent = lines.map { line in line.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { $0.dropFirst(indent) }.joined(separator: "\n")
    }
}
