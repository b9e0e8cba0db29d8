import ForeignText
import Results

/// Reads the output of `swift test`, of XCTest and of Swift Testing.
///
/// It is the last resort. A test can print anything, so a line counts only if the runner could print it at that point,
/// and Swift Testing's lines name no suite. If the event stream or JUnit exists, ``TestResults/merging(_:)`` adds these
/// results to it.
struct ConsoleReading: ResultReading {
    static let format = ResultFormat.swiftpmConsole

    private var collector: ResultCollector
    private let limits: TestResultLimits
    private var sawLine = false

    /// Tests that have started and not ended, in that order, by the name in their lines.
    private var open: [String: OpenTest] = [:]
    private var opened = 0
    private var current: String?
    /// Where a continuation line of a message belongs.
    private var continues: String?
    /// The number of continuation lines of the current XCTest issue.
    private var continuedLines = 0
    private var seen: [String: Int] = [:]
    private var fatal: String?

    private struct OpenTest {
        var order: Int
        var suite: String
        var name: String
        var issues: [String] = []
        var isError = false
        var reason: String?
        var known: String?
        var file: String?
        var line: Int?
        /// The test's output apart from its issues.
        var output: BoundedText
    }

    static func recognises(_ start: FileStart) -> Bool {
        start.first != UInt8(ascii: "<") && start.keys.isEmpty
            && start.holdsAny(of: [
                "Test Suite '", "Test Case '", "Test run started", ") started.", ") passed after ", "\" started.",
                " recorded an issue",
            ])
    }

    init(name: String, limits: TestResultLimits) {
        collector = ResultCollector(name: name, limits: limits)
        self.limits = limits
    }

    mutating func read(_ source: ByteSource) -> TestResults {
        var source = source
        while !collector.isFull, let (bytes, _) = source.nextLine(limit: limits.fieldBytes) {
            if !xctestIssue(coloured: bytes) { take(String(uncoloured: bytes)) }
        }
        finish()
        return collector.finished()
    }

    private mutating func take(_ line: String) {
        if line.hasPrefix("Test Case '") { return testCase(line) }
        if line.hasPrefix("Test Suite '") || line.hasPrefix("\t Executed ") {
            continues = nil
            return
        }
        if xctestIssue(line) { return }
        if let mark = line.byteRange(of: "Fatal error: ") {
            fatal = String(line[mark.lowerBound...])
            if let current, let place = SourceLocator(suite: "").locate(in: [line]) {
                open[current]?.file = place.file
                open[current]?.line = place.line
            }
        }
        swiftTesting(line)
    }

    // MARK: XCTest

    /// `Test Case 'A.b' started at …`, `Test Case '-[M.A b]' passed (0.1 seconds)`.
    private mutating func testCase(_ line: String) {
        continues = nil
        let rest = line.dropFirst("Test Case '".count)
        guard let quote = rest.byteRange(of: "' ") else { return }
        let key = String(rest[..<quote.lowerBound])
        let words = rest[quote.upperBound...]
        if words.hasPrefix("started") {
            let (suite, name) = Self.names(key)
            begin(key, suite: suite, name: name)
            current = key
            return
        }
        guard open[key] != nil else { return }
        let status: TestResult.Status
        if words.hasPrefix("passed") {
            status = open[key]?.known == nil ? .passed : .expectedFailure
        } else if words.hasPrefix("failed") {
            status = open[key]?.isError == true ? .errored : .failed
        } else if words.hasPrefix("skipped") {
            status = .skipped
        } else {
            return
        }
        let seconds = words.firstIndex(of: "(").flatMap {
            Seconds.read(Self.firstWord(words[$0...].dropFirst()))
        }
        end(key, status, seconds)
        current = nil
    }

    /// `-[Module.Class test]` on macOS, `Class.test` elsewhere.
    static func names(_ key: String) -> (suite: String, name: String) {
        if key.hasPrefix("-["), let space = key.firstIndex(of: " ") {
            return (String(key[..<space].dropFirst(2)), String(key[space...].dropFirst().dropLast()))
        }
        guard let dot = key.lastIndex(of: ".") else { return ("", key) }
        return (String(key[..<dot]), String(key[dot...].dropFirst()))
    }

    /// `/F.swift:3: error: A.b : text`, `/F.swift:3: A.b : Test skipped - text`, `… : Expected failure …`.
    private mutating func xctestIssue(_ line: String) -> Bool {
        guard let current, let test = open[current] else { return false }
        let name = current + " : "
        guard let at = line.byteRange(of: ": error: " + name) ?? line.byteRange(of: ": " + name),
            at.lowerBound > line.startIndex
        else {
            return xctestOutput(line, of: current)
        }
        let isError = line[at].hasPrefix(": error: ")
        let text = String(line[at.upperBound...]).trimmed
        var changed = test
        if changed.file == nil,
            let place = SourceLocator(suite: test.suite).locate(in: [String(line[..<at.lowerBound]) + ":"])
        {
            (changed.file, changed.line) = (place.file, place.line)
        }
        if isError {
            if changed.issues.isEmpty { changed.isError = text.hasPrefix("threw error") }
            if changed.issues.count < 50 { changed.issues.append(text) }
            // Later lines belong to an issue that is kept, or are ignored.
            continues = changed.issues.count < 50 && Self.goesOn(text) ? current : nil
            continuedLines = 0
        } else if text.hasPrefix("Test skipped") {
            changed.reason =
                text.dropFirst("Test skipped".count).drop { $0 == " " || $0 == "-" || $0 == ":" }
                .description
        } else {
            changed.known = text
        }
        open[current] = changed
        return true
    }

    /// Takes a line of an XCTest issue that contains escape characters. XCTest uses no colours, so they belong to the
    /// values that it shows. Without them, only `"Hello" is not equal to "Hello"` would be left.
    private mutating func xctestIssue(coloured bytes: [UInt8]) -> Bool {
        guard let current, let escape = bytes.firstIndex(of: 0x1B) else { return false }
        let start = String(cleaning: Array(bytes[..<escape]))
        guard continues == current || start.byteRange(of: ": error: \(current) : ") != nil else { return false }
        let parts = bytes.split(separator: 0x1B, omittingEmptySubsequences: false)
        return xctestIssue(parts.map { String(cleaning: Array($0)) }.joined(separator: "\\u{1B}"))
    }

    /// Takes a line that an XCTest printed, or one more line of its last issue. Lines of Swift Testing's runner are
    /// neither.
    private mutating func xctestOutput(_ line: String, of test: String) -> Bool {
        guard Self.isPlain(line) || line.isEmpty else { return false }
        if continues == test {
            appendToIssue(of: test, line)
            continuedLines += 1
            if let issue = open[test]?.issues.last, !Self.goesOn(issue, after: continuedLines) { continues = nil }
            return true
        }
        if line.byteRange(of: "Fatal error: ") != nil { return false }
        open[test]?.output.append((line + "\n").utf8)
        return true
    }

    /// Whether further lines belong to an issue: for an assertion, until both values are complete; for other text,
    /// always.
    private static func goesOn(_ issue: String, after lines: Int = 0) -> Bool {
        guard XCTestMessage.opensValue(issue) else { return true }
        return lines < XCTestMessage.mostLines && !XCTestMessage.isComplete(issue)
    }

    private static func isPlain(_ line: String) -> Bool {
        guard let first = line.unicodeScalars.first else { return true }
        return !marks.contains(first)
    }

    // MARK: Swift Testing

    /// Every symbol that Swift Testing starts a line with, on every platform and with SF Symbols (private use area).
    private static let marks: Set<Unicode.Scalar> = [
        "◇", "✔", "✘", "➜", "↩", "↳", "━", "⚠", "◆", "▶", "√", "×", "!", "→", "~", "\u{100135}", "\u{10105B}",
    ]

    private mutating func swiftTesting(_ line: String) {
        var rest = line[...]
        let mark = rest.unicodeScalars.first
        if let mark, Self.marks.contains(mark) || mark.properties.generalCategory == .privateUse {
            rest = rest.drop { $0 != " " }.drop { $0 == " " }
            if mark == "↳" {
                addComment(String(rest))
                return
            }
        }
        if rest.hasPrefix("Test ") {
            rest = rest.dropFirst(5)
            if rest.hasPrefix("run ") || rest.hasPrefix("case ") {
                if rest.hasPrefix("run ") { sawLine = true }
                continues = nil
                return
            }
            if test(rest) { return }
        } else if line.hasPrefix("  "), let continues, open[continues] != nil, current == nil {
            addComment(String(line.dropFirst(2)))
            return
        }
        if mark != nil, rest.startIndex != line.startIndex { continues = nil }
    }

    private mutating func addComment(_ text: String) {
        if let continues { appendToIssue(of: continues, text) }
    }

    /// Appends to a test's last issue in place. Copying it for each line would take quadratic time.
    private mutating func appendToIssue(of key: String, _ text: String) {
        guard let last = open[key]?.issues.indices.last,
            (open[key]?.issues[last].utf8.count ?? 0) < limits.fieldBytes
        else { return }
        open[key]?.issues[last] += "\n" + text
    }

    /// The rest of a line after `Test `.
    private mutating func test(_ line: Substring) -> Bool {
        if line.hasSuffix(" started.") {
            let key = String(line.dropLast(" started.".count))
            guard Self.isName(key) else { return false }
            // The console names no suite: two tests of the same name are two tests, not two tries.
            let count = (seen[key] ?? 0) + 1
            seen[key] = count
            begin("test " + key, suite: "", name: key.unquoted + (count > 1 ? " #\(count)" : ""))
            continues = nil
            return true
        }
        for (mark, status) in Self.endings {
            guard let at = line.byteRange(of: mark) else { continue }
            var name = String(line[..<at.lowerBound])
            if let with = name.byteRange(of: " with "), name.hasSuffix(" test cases") || name.hasSuffix(" test case") {
                name = String(name[..<with.lowerBound])
            }
            guard Self.isName(name) else { continue }
            return finish(name, status, String(line[at.upperBound...]))
        }
        for mark in [" recorded an issue", " recorded a known issue"] {
            guard let at = line.byteRange(of: mark) else { continue }
            let name = String(line[..<at.lowerBound])
            guard Self.isName(name), open["test " + name] != nil else { continue }
            issue("test " + name, String(line[at.upperBound...]), isKnown: mark.contains("known"))
            return true
        }
        if line.byteRange(of: " recorded a warning") != nil { continues = nil }
        return false
    }

    private static let endings: [(String, TestResult.Status)] = [
        (" passed after ", .passed), (" failed after ", .failed), (" was cancelled after ", .skipped),
        (" skipped", .skipped),
    ]

    private static func isName(_ text: String) -> Bool {
        text.hasSuffix(")") && text.contains("(") || text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
    }

    private mutating func finish(_ name: String, _ status: TestResult.Status, _ words: String) -> Bool {
        let key = "test " + name
        if open[key] == nil {
            // Only a test that is skipped from the start ends without having started.
            guard status == .skipped, words.isEmpty || words.hasPrefix(":") || words.hasPrefix(".") else {
                return false
            }
            let count = (seen[key] ?? 0) + 1
            seen[key] = count
            begin(key, suite: "", name: name.unquoted + (count > 1 ? " #\(count)" : ""))
        }
        if status == .skipped {
            let text = words.byteRange(of: ": ").map { String(words[$0.upperBound...]).unquoted }
            open[key]?.reason = text
        }
        var status = status
        if status == .passed, open[key]?.known != nil { status = .expectedFailure }
        if status == .failed, open[key]?.isError == true { status = .errored }
        end(key, status, words.contains("second") ? Seconds.read(Self.firstWord(words[...])) : nil)
        continues = nil
        return true
    }

    /// ` with 1 argument n → 2 at F.swift:13:61: Expectation failed: …`
    private mutating func issue(_ key: String, _ words: String, isKnown: Bool) {
        guard var test = open[key] else { return }
        var arguments = ""
        var text = words
        if let at = words.byteRange(of: " at ") {
            arguments = String(words[..<at.lowerBound])
            text = String(words[at.upperBound...])
            // File:line:column: text
            let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
            if parts.count == 4, let line = Int(parts[1]), Int(parts[2]) != nil {
                text = parts[3].trimmingPrefix(" ").description
                if test.file == nil, !isKnown || test.known == nil { (test.file, test.line) = (String(parts[0]), line) }
            }
        }
        if !arguments.trimmed.isEmpty { text += "\n  \(arguments.trimmed)" }
        if isKnown {
            test.known = test.known ?? text
            continues = nil
        } else {
            if test.issues.isEmpty { test.isError = text.hasPrefix("Caught error: ") }
            if test.issues.count < 50 { test.issues.append(text) }
            continues = key
        }
        open[key] = test
    }

    // MARK: Both

    private static func firstWord(_ text: Substring) -> String {
        String(text.prefix { $0 != " " && $0 != ")" })
    }

    private mutating func begin(_ key: String, suite: String, name: String) {
        sawLine = true
        guard open.count < limits.tests else { return }
        opened += 1
        open[key] = OpenTest(order: opened, suite: suite, name: name, output: BoundedText(limit: limits.fieldBytes))
    }

    private mutating func end(_ key: String, _ status: TestResult.Status, _ seconds: Double?) {
        guard let test = open.removeValue(forKey: key) else { return }
        collector.add(result(test, status, seconds))
        if continues == key { continues = nil }
    }

    private func result(_ test: OpenTest, _ status: TestResult.Status, _ seconds: Double?) -> TestResult {
        var result = TestResult(
            suite: test.suite, name: test.name, status: status, duration: seconds, file: test.file, line: test.line)
        switch status {
        case .failed, .errored:
            result.message = test.issues.first?.trimmed
            let issues = test.issues.count > 1 ? test.issues.joined(separator: "\n") : ""
            result.details = [issues, test.output.string].filter { !$0.isEmpty }.joined(separator: "\n\n")
        case .skipped: result.message = test.reason
        case .expectedFailure: result.message = test.known
        case .passed: (result.file, result.line) = (nil, nil)
        }
        return result
    }

    private mutating func finish() {
        for test in open.values.sorted(by: { $0.order < $1.order }) {
            var result = result(test, .errored, nil)
            let end = "The test started and never ended: its process crashed or was stopped."
            result.message = test.issues.first ?? fatal.map { end + "\n" + $0 } ?? end
            collector.add(result)
        }
        if !sawLine {
            collector.say(
                "contains no output of XCTest or Swift Testing", key: "none", severity: .error,
                suggestion: "Check that the step runs swift test and that its whole output is in the file.")
        }
    }
}
