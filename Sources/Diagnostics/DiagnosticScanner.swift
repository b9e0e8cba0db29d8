import ForeignText
public import Results
import TerminalText
public import Pipeline

/// Finds problems in a step's output: the messages of compilers, linters, test runners and crashes.
///
/// The code under test wrote the text. Whatever it contains, the scan is one pass over at most ``maximumBytes`` of it,
/// keeps at most ``maximumFindings``, and opens no file. Of a longer text it reads a quarter of that at each end, and
/// passages between them around words that are typical of errors: see ``LogPassages``.
public struct DiagnosticScanner: Sendable {
    /// The most findings that are kept of one text; the first ones are kept.
    public var maximumFindings = 200
    /// The most bytes that are read.
    public var maximumBytes = 1 << 20
    /// The workflow's rules for other tools' lines. They take precedence over the built-in formats.
    public var rules: [FindingRule] = []
    /// Whether the formats of common tools are read, or only ``rules``.
    public var hasForms = true

    public init(rules: [FindingRule] = []) { self.rules = rules }

    /// The problems that `text` reports. Less certain findings are returned only if there are no more certain ones.
    public func findings(in text: some Collection<UInt8>) -> [Finding] {
        var reading = DiagnosticReading(limit: maximumFindings, rules: rules.map(RuleMatcher.init), hasForms: hasForms)
        let read = { (bytes: UnsafeBufferPointer<UInt8>) in
            for range in LogPassages(maximumBytes: maximumBytes).ranges(in: UnsafeRawBufferPointer(bytes)) {
                reading.take(UnsafeBufferPointer(rebasing: bytes[range]))
                reading.flush()
            }
        }
        withBytes(of: text, read)
        return reading.result
    }
}

/// One pass over the lines.
struct DiagnosticReading {
    private var rules: [RuleMatcher]
    private let hasForms: Bool
    private var found: FoundFindings
    /// A message whose location follows in a later line: an exception, a crash, an error of rustc's.
    private var pending: (finding: Finding, linesLeft: Int)?
    private var python = PythonReading()
    /// The file that the following lines are about, as in eslint's output.
    private var header: Substring?
    /// The finding of a message of CMake's whose words are in the next lines.
    private var cmake: Int?

    init(limit: Int, rules: [RuleMatcher], hasForms: Bool) {
        self.hasForms = hasForms
        self.rules = rules
        found = FoundFindings(limit: limit)
    }

    var result: [Finding] { found.result }

    mutating func take(_ bytes: some Collection<UInt8>) {
        // No message is that short, and a log of a million empty words must not take minutes.
        LogLines.each(in: bytes, lineLimit: 2_000, isSkipped: { $0 < 6 && isIdle }) { line in
            if !found.isFull { take(line: line) }
        }
    }

    /// Whether nothing was begun that a short line could belong to.
    private var isIdle: Bool {
        rules.isEmpty && pending == nil && cmake == nil && header == nil && !python.isInside && !found.expectsMore
    }

    private mutating func take(line: Substring) {
        for index in rules.indices {
            if let finding = rules[index].take(line) {
                settlePending()
                return found.add(DiagnosticLine(finding: finding, strength: .certain))
            }
        }
        guard hasForms else { return }
        if found.takeAssertion(line) { return }
        if let finding = python.take(line) {
            settlePending()
            return found.add(DiagnosticLine(finding: finding, strength: .certain))
        }
        if python.isInside { return }
        if let start = cmake {
            if line.hasPrefix("  "), found.extend(start, by: line.drop { $0 == " " }) { return }
            if !line.isEmpty || found.hasMessage(start) { cmake = nil }
        }
        if takeFrame(line) { return }
        if takeListed(line) { return }
        if found.takeExcerpt(line) { return }
        if takeCMake(line) || takeCrash(line) { return }
        guard let read = DiagnosticLine.read(line) else { return }
        settlePending()
        if read.finding.rule == "crash", SourcePlace.isOfTools(read.finding.file ?? "") {
            // The library's own line shows where the crash was noticed; the crash report shows which call caused it.
            pending = (read.finding, 60)
        } else if read.strength == .unplaced {
            pending = (read.finding, 30)
        } else {
            found.add(read)
        }
    }

    mutating func flush() {
        if let finding = python.finish() { found.add(DiagnosticLine(finding: finding, strength: .certain)) }
        found.closeExcerpt()
        settlePending()
        found.closeAssertion()
        (header, cmake) = (nil, nil)
    }

    // MARK: Lines that belong to others

    /// ` --> src/main.rs:3:5`, `    at f (src/a.js:3:5)`, `#0 0x1 in f /w/a.c:3`, `0 0x1 f + 20 in prog at /w/a.swift:3`.
    private mutating func takeFrame(_ line: Substring) -> Bool {
        guard pending != nil else { return false }
        let text = line.drop { $0 == " " }
        var place: SourcePlace?
        if text.hasPrefix("--> ") || text.hasPrefix(">>> referenced by ") {
            let start = text.hasPrefix("--> ") ? 4 : 18
            place = SourcePlace.read(text.dropFirst(start))?.place
        } else if text.hasPrefix("at "), let open = text.lastIndex(of: "(") {
            place = SourcePlace.read(text[text.index(after: open)...])?.place
        } else if text.hasPrefix("at ") {
            place = SourcePlace.read(text.dropFirst(3))?.place
        } else if text.first?.isNumber == true, text.byteRange(of: " in ") != nil, let at = text.byteRange(of: " at ") {
            place = SourcePlace.read(text[at.upperBound...])?.place
        } else if text.first == "#", let space = text.lastIndex(of: " ") {
            place = SourcePlace.read(text[text.index(after: space)...])?.place
        }
        if let place, !place.isOfTools, var finding = pending?.finding {
            (finding.file, finding.line, finding.column) = (place.file, place.line, place.column)
            pending = nil
            found.add(DiagnosticLine(finding: finding, strength: .certain))
            return true
        }
        guard let left = pending?.linesLeft, left > 1 else {
            settlePending()
            return false
        }
        pending?.linesLeft = left - 1
        return place != nil
    }

    /// Ends a message whose location never came.
    private mutating func settlePending() {
        guard let finding = pending?.finding else { return }
        pending = nil
        found.add(DiagnosticLine(finding: finding, strength: .unplaced))
    }

    /// `/w/src/a.js` and then `  3:5  error  message  rule-name` (eslint's default form).
    private mutating func takeListed(_ line: Substring) -> Bool {
        if let header {
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
            if line.first == " ", words.count == 3, ["error", "warning"].contains(words[1]) {
                let numbers = words[0].split(separator: ":").compactMap { Int($0) }
                guard numbers.count == 2 else { return false }
                let message = words[2].drop { $0 == " " }
                let parts = message.split(separator: "  ").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
                let place = SourcePlace(file: String(header), line: numbers[0], column: numbers[1])
                found.add(
                    DiagnosticLine(
                        finding: DiagnosticLine.finding(
                            words[1] == "error" ? .error : .warning, parts.first ?? message, place,
                            parts.count > 1 ? parts.last.map(String.init) : nil), strength: .certain))
                return true
            }
        }
        let isAlone = !line.contains(" ") && line.contains("/") && SourcePlace.isPath(line)
        header = isAlone && !line.contains(":") ? line : line.first == " " ? header : nil
        return isAlone && header != nil
    }

    /// `CMake Error at CMakeLists.txt:3 (message):`, whose words are in the next lines.
    private mutating func takeCMake(_ line: Substring) -> Bool {
        for (word, severity) in [("CMake Error at ", Finding.Severity.error), ("CMake Warning at ", .warning)]
        where line.startsWith(bytesOf: word) {
            let rest = line.dropFirst(word.count)
            guard let (place, tail) = SourcePlace.read(rest) else { return false }
            settlePending()
            let command = tail.drop { "( ".contains($0) }.prefix { $0 != ")" }
            var finding = DiagnosticLine.finding(severity, "", place, "cmake")
            finding.rule = command.isEmpty ? "cmake" : "cmake \(command)"
            cmake = found.addOpen(DiagnosticLine(finding: finding, strength: .certain))
            return true
        }
        return false
    }

    /// The first line of a crash report, whose frames have the location.
    private mutating func takeCrash(_ line: Substring) -> Bool {
        let marks = ["Program crashed: ", "ERROR: AddressSanitizer: ", "WARNING: ThreadSanitizer: "]
        for mark in marks {
            guard let range = line.byteRange(of: mark) else { continue }
            // What the runtime printed before is the better message, and it may have a location.
            if found.newest?.rule == "crash" || pending?.finding.rule == "crash" { return true }
            settlePending()
            let message = mark.hasPrefix("Program") ? line[range.lowerBound...] : line[range.upperBound...]
            pending = (DiagnosticLine.finding(.error, message, nil, "crash"), 60)
            return true
        }
        // `TypeError: message` of Node and others. Python's exceptions have a reader of their own.
        let name = line.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        let rest = line.dropFirst(name.count)
        if name.count > 5, name.hasSuffix("Error") || name.hasSuffix("Exception"), rest.hasPrefix(": ") {
            settlePending()
            pending = (DiagnosticLine.finding(.error, line, nil, String(name)), 30)
            return true
        }
        return false
    }
}
