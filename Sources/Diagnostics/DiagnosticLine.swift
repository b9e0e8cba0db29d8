import ForeignText
import Results

/// One line of a compiler's, linter's or test runner's output that reports a problem.
///
/// The formats follow the tools' documentation: GNU Coding Standards, "Formatting Error Messages" (gcc, clang, swiftc,
/// SwiftLint, swift-format), Visual Studio's (tsc, MSBuild), and those of go, make, sh and assert(3).
struct DiagnosticLine {
    /// How certain it is that the line reports a problem.
    enum Strength: Int, Comparable {
        /// It has a message but no location.
        case unplaced
        /// It has a location but no severity.
        case placed
        /// It has a severity (error, warning or note) and a location.
        case certain

        static func < (one: Strength, other: Strength) -> Bool { one.rawValue < other.rawValue }
    }

    var finding: Finding
    var strength: Strength

    static func read(_ line: Substring) -> DiagnosticLine? {
        let text = line.drop { $0 == " " || $0 == "\t" }
        guard !text.isEmpty else { return nil }
        return placed(text) ?? make(text) ?? assertion(text) ?? testingIssue(text) ?? unplaced(text, line)
    }

    /// `path:3:5: error: message`, `path(3,5): error TS1: message`, `path:3: message`.
    private static func placed(_ text: Substring) -> DiagnosticLine? {
        guard let (place, rest) = SourcePlace.read(text) else { return nil }
        let message = rest.drop { ": ".contains($0) }
        guard !message.isEmpty else { return nil }
        if let (severity, code, words) = Self.severity(message) {
            return DiagnosticLine(finding: finding(severity, words, place, code), strength: .certain)
        }
        if message.byteRange(of: "undefined reference to") != nil || message.byteRange(of: "command not found") != nil {
            return DiagnosticLine(finding: finding(.error, message, place), strength: .certain)
        }
        // A link in prose and a stack frame are no diagnostics.
        guard rest.first == ":" else { return nil }
        return DiagnosticLine(finding: finding(.error, message, place), strength: .placed)
    }

    /// `make: *** [Makefile:3: all] Error 1`.
    private static func make(_ text: Substring) -> DiagnosticLine? {
        guard let mark = text.byteRange(of: ": *** ["), text[..<mark.lowerBound].byteRange(of: "make") != nil,
            let (place, rest) = SourcePlace.read(text[mark.upperBound...])
        else { return nil }
        let words = rest.drop { ": ".contains($0) }.split(separator: "] ", maxSplits: 1)
        let message = "make \(words.first ?? "") failed\(words.count > 1 ? ": \(words[1])" : "")"
        return DiagnosticLine(finding: finding(.error, message[...], place, "make"), strength: .placed)
    }

    /// `tool: src/a.c:12: int main(): Assertion `x' failed.`; `Assertion failed: (x), function f, file a.c, line 12.`
    private static func assertion(_ text: Substring) -> DiagnosticLine? {
        if text.startsWith(bytesOf: "Assertion failed: "), let file = text.byteRange(of: ", file "),
            let line = text[file.upperBound...].byteRange(of: ", line ")
        {
            let digits = text[line.upperBound...].prefix { $0.isASCII && $0.isNumber }
            let place = SourcePlace(file: String(text[file.upperBound..<line.lowerBound]), line: Int(digits))
            guard SourcePlace.isPath(place.file[...]) else { return nil }
            return DiagnosticLine(
                finding: finding(.error, text[..<file.lowerBound], place, "assertion"), strength: .certain)
        }
        guard text.byteRange(of: ": Assertion `") != nil, text.byteRange(of: " failed.") != nil,
            let colon = text.byteRange(of: ": "),
            let (place, rest) = SourcePlace.read(text[colon.upperBound...])
        else { return nil }
        let start = rest.byteRange(of: "Assertion `").map { rest[$0.lowerBound...] } ?? rest
        return DiagnosticLine(finding: finding(.error, start, place, "assertion"), strength: .certain)
    }

    /// `✘ Test name() recorded an issue at File.swift:12:5: Expectation failed: …`.
    private static func testingIssue(_ text: Substring) -> DiagnosticLine? {
        guard let mark = text.byteRange(of: " recorded an issue"),
            let at = text[mark.upperBound...].byteRange(of: " at "),
            let (place, rest) = SourcePlace.read(text[at.upperBound...])
        else { return nil }
        return DiagnosticLine(
            finding: finding(.error, rest.drop { ": ".contains($0) }, place, "test"), strength: .certain)
    }

    /// `error: message`, `ld: error: message`, `E: message`, without a location.
    private static func unplaced(_ text: Substring, _ line: Substring) -> DiagnosticLine? {
        guard text.startIndex == line.startIndex else { return nil }
        var words = text
        // The name of the tool.
        if let colon = text.byteRange(of: ": "), text[..<colon.lowerBound].allSatisfy({ !$0.isWhitespace }),
            severity(text[colon.upperBound...]) != nil
        {
            words = text[colon.upperBound...]
        }
        if let (severity, code, message) = severity(words), severity == .error, !message.isEmpty {
            return DiagnosticLine(
                finding: finding(.error, message, nil, code), strength: .unplaced)
        }
        for word in ["Traceback (most recent call last)", "ERROR: ", "Fatal error: ", "E: ", "npm ERR! "]
        where text.startsWith(bytesOf: word) && !word.hasPrefix("Trace") {
            return DiagnosticLine(finding: finding(.error, text.dropFirst(word.count), nil), strength: .unplaced)
        }
        return nil
    }

    private static let severities: [(word: String, severity: Finding.Severity)] = [
        ("fatal error", .error), ("runtime error", .error), ("internal compiler error", .error), ("error", .error),
        ("Fatal error", .error), ("Error", .error), ("ERROR", .error), ("Precondition failed", .error),
        ("Assertion failed", .error), ("warning", .warning), ("Warning", .warning), ("WARNING", .warning),
        ("note", .note), ("remark", .note), ("info", .note),
    ]

    /// `error: message`, `error TS2304: message`, `error[E0308]: message`.
    static func severity(_ text: Substring) -> (Finding.Severity, code: String?, message: Substring)? {
        for (word, severity) in severities where text.startsWith(bytesOf: word) {
            var rest = text.dropFirst(word.count)
            var code: String?
            if rest.first == "[", let end = rest.prefix(40).firstIndex(of: "]") {
                code = String(rest[rest.index(after: rest.startIndex)..<end])
                rest = rest[rest.index(after: end)...]
            } else if rest.first == " ", let colon = rest.prefix(24).firstIndex(of: ":") {
                let word = rest[..<colon].dropFirst()
                guard !word.contains(" "), word.contains(where: \.isNumber) else { continue }
                code = String(word)
                rest = rest[colon...]
            }
            guard rest.first == ":" || rest.isEmpty else { continue }
            let message = rest.drop { ": ".contains($0) }
            let isTrap = ["Fatal error", "Precondition failed", "Assertion failed"].contains(word)
            return (severity, code ?? (isTrap ? "crash" : nil), message.isEmpty ? Substring(word) : message)
        }
        return nil
    }

    static func finding(
        _ severity: Finding.Severity, _ message: Substring, _ place: SourcePlace?, _ code: String? = nil
    ) -> Finding {
        var message = String(message)
        while message.last?.isWhitespace == true { message.removeLast() }
        let rule = code ?? rule(in: message) ?? (severity == .error ? "error" : severity.rawValue)
        return Finding(
            rule: rule, severity: severity, message: message, file: place?.file, line: place?.line,
            column: place?.column)
    }

    /// `[Rule] message` (swift-format), `message (rule_name)` (SwiftLint), `message [-Wrule]` (clang, gcc).
    private static func rule(in message: String) -> String? {
        func isName(_ text: Substring) -> Bool {
            (2...60).contains(text.count)
                && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_=#+./".contains($0)) }
                && text.contains(where: \.isLetter)
        }
        if message.hasPrefix("["), let end = message.firstIndex(of: "]") {
            let name = message[..<end].dropFirst()
            if isName(name) { return String(name) }
        }
        if message.hasSuffix("]"), let start = message.lastIndex(of: "[") {
            let name = message[start...].dropFirst().dropLast()
            if isName(name) { return String(name) }
        }
        if message.hasSuffix(")"), let start = message.lastIndex(of: "(") {
            let name = message[start...].dropFirst().dropLast()
            if isName(name), name.contains("_") || name.contains("-") { return String(name) }
        }
        return nil
    }
}
