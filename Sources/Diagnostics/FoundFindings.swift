import ForeignText
import Results
import TestReports

/// The findings of a text so far, and what the next lines may add to the newest: the code that a compiler shows, the
/// values of an XCTest assertion.
struct FoundFindings {
    private let limit: Int
    private var found: [DiagnosticLine] = []
    private var seen: Set<String> = []
    /// Lines with the code of the newest finding; nil if none can follow.
    private var excerpt: [Substring]?
    /// The finding of an XCTest assertion whose values continue in the next lines, and how many lines were added.
    private var assertion: (index: Int, lines: Int)?

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { found.count >= limit }

    var newest: Finding? { found.last?.finding }

    /// Whether the next line may belong to the newest finding.
    var expectsMore: Bool { excerpt != nil || assertion != nil }

    /// Less certain findings only if there are no more certain ones.
    var result: [Finding] {
        let errors = found.filter { $0.finding.severity == .error }
        guard let best = errors.map(\.strength).max() else { return found.map(\.finding.bounded) }
        return found.filter { $0.strength == .certain || $0.strength == best }.map(\.finding.bounded)
    }

    mutating func add(_ line: DiagnosticLine) {
        guard !isFull else { return }
        closeExcerpt()
        let finding = line.finding
        // CMake's message follows later, so two of its messages at one location count as one.
        let key = "\(finding.file ?? "")|\(finding.line ?? 0)|\(finding.column ?? 0)|\(finding.message)"
        guard seen.insert(key).inserted else { return }
        found.append(line)
        if !XCTestMessage.isComplete(Self.withoutTest(finding.message)) { assertion = (found.count - 1, 0) }
        excerpt = finding.excerpt == nil && line.strength == .certain ? [] : nil
    }

    /// Adds a finding whose message follows, with no code before it.
    ///
    /// - Returns: Where ``extend(_:by:)`` adds to its message.
    mutating func addOpen(_ line: DiagnosticLine) -> Int {
        add(line)
        excerpt = nil
        return found.count - 1
    }

    /// Adds words to the message of a finding; false if it is too long for more.
    mutating func extend(_ index: Int, by words: Substring) -> Bool {
        guard found.indices.contains(index), found[index].finding.message.utf8.count < 600 else { return false }
        let old = found[index].finding.message
        found[index].finding.message = old.isEmpty ? String(words) : "\(old) \(words)"
        return true
    }

    func hasMessage(_ index: Int) -> Bool {
        found.indices.contains(index) && !found[index].finding.message.isEmpty
    }

    // MARK: The code of the newest finding

    /// Takes a line that shows code of the newest finding; another one ends its code.
    mutating func takeExcerpt(_ line: Substring) -> Bool {
        guard let lines = excerpt, Self.isCode(line, isFirst: lines.isEmpty) else {
            closeExcerpt()
            return false
        }
        if lines.count < 8 { excerpt?.append(line) }
        return true
    }

    /// `12 | let x`, `   |   ^`, `>     assert x`.
    private static func isCode(_ line: Substring, isFirst: Bool) -> Bool {
        let text = line.drop { $0 == " " }
        let afterNumber = text.drop { $0.isASCII && $0.isNumber }.drop { $0 == " " }
        if afterNumber.first == "|" { return true }
        return text.startIndex != line.startIndex && !text.isEmpty
            && (text.first == "^" || text.first == "~" || isFirst && SourcePlace.read(text) == nil)
    }

    mutating func closeExcerpt() {
        if let excerpt, !excerpt.isEmpty, let last = found.indices.last, found[last].finding.excerpt == nil {
            found[last].finding.excerpt = excerpt.joined(separator: "\n")
        }
        excerpt = nil
    }

    // MARK: The values of an assertion

    /// Takes one more line of an XCTest assertion, until both of its values are complete.
    mutating func takeAssertion(_ line: Substring) -> Bool {
        guard let (index, lines) = assertion, found.indices.contains(index) else { return false }
        guard lines < XCTestMessage.mostLines, !line.hasPrefix("Test Case '"), line.byteRange(of: ": error: ") == nil
        else {
            assertion = nil
            return false
        }
        found[index].finding.message += "\n" + line
        let isWhole = XCTestMessage.isComplete(Self.withoutTest(found[index].finding.message))
        assertion = isWhole ? nil : (index, lines + 1)
        return true
    }

    mutating func closeAssertion() { assertion = nil }

    /// `XCTAssertEqual failed: …` of `Class.test : XCTAssertEqual failed: …`.
    private static func withoutTest(_ message: String) -> Substring {
        message.byteRange(of: " : ").map { message[$0.upperBound...] } ?? message[...]
    }
}
