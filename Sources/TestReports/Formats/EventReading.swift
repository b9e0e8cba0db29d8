import ForeignText
import Results

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns Swift Testing's event stream into results.
struct EventReading: ResultReading {
    static let format = ResultFormat.swiftTestingEvents

    private var collector: ResultCollector
    private let limits: TestResultLimits
    private var tests: [String: Int] = [:]
    private var states: [State] = []
    private var sawEvent = false
    private var ended = false
    private var textBytes = 0

    private struct State {
        var suite: String
        var name: String
        var isSuite: Bool
        var file: String?
        var line: Int?
        var started: Double?
        var stopped: Double?
        var hasStarted = false
        var hasEnded = false
        var reason: String?
        var isSkipped = false
        var issues: [Issue] = []
        var moreIssues = 0
        var known: Issue?
        var openCases: [String] = []
    }

    private struct Issue {
        var text: String
        var file: String?
        var line: Int?
        var column: Int?
        var arguments: String?

        /// A line by which a person can find the issue.
        var sentence: String {
            var place = ""
            if let file { place = file + (line.map { ":\($0)" } ?? "") + (column.map { ":\($0)" } ?? "") + ": " }
            return place + text + (arguments.map { "\n  with arguments: \($0)" } ?? "")
        }
    }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("kind") && start.keys.contains("payload")
    }

    init(name: String, limits: TestResultLimits) {
        collector = ResultCollector(name: name, limits: limits)
        self.limits = limits
    }

    /// Longer lines are skipped: no message is that long.
    private static let lineLimit = 4 << 20

    mutating func read(_ source: ByteSource) -> TestResults {
        var source = source
        let decoder = JSONDecoder()
        var line = source.line
        var broken = 0
        while let (bytes, length) = source.nextLine(limit: Self.lineLimit) {
            defer { line = source.line }
            if bytes.allSatisfy(\.isXMLSpace) { continue }
            guard length <= Self.lineLimit, isShallow(bytes),
                let record = try? decoder.decode(EventRecord.self, from: Data(bytes))
            else {
                broken += 1
                if broken == 1 {
                    let last = source.peek() == nil
                    collector.say(
                        last
                            ? "ends inside an event, at line \(line)"
                            : "has a line that is not an event, line \(line): it was skipped",
                        key: "broken", line: line, severity: .error,
                        suggestion: "The test process was probably stopped: check the end of the step's log."
                    )
                }
                if broken > 1000 { break }
                continue
            }
            take(record)
        }
        finish()
        return collector.finished()
    }

    /// Whether no more brackets than the limit are open at the same time, ignoring strings.
    private func isShallow(_ bytes: [UInt8]) -> Bool {
        var depth = 0
        var inString = false
        var escaped = false
        for byte in bytes {
            if escaped {
                escaped = false
            } else if inString {
                if byte == UInt8(ascii: "\\") { escaped = true } else if byte == UInt8(ascii: "\"") { inString = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): inString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    if depth > limits.depth { return false }
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
        }
        return true
    }

    private mutating func take(_ record: EventRecord) {
        let payload = record.payload
        if record.kind == "test" {
            guard let id = payload.id else { return }
            sawEvent = true
            declare(id, payload)
            return
        }
        guard record.kind == "event" else { return }
        sawEvent = true
        if payload.kind == "runEnded" { ended = true }
        guard let id = payload.testID else {
            if payload.kind == "issueRecorded", let issue = payload.issue, issue.fails { strayIssue(payload, issue) }
            return
        }
        guard let index = index(of: id) else { return }
        update(index, payload)
    }

    private mutating func update(_ index: Int, _ payload: EventRecord.Payload) {
        let instant = payload.instant?.absolute ?? payload.instant?.since1970
        switch payload.kind {
        case "testStarted":
            // The same test again in one stream is a further try.
            if states[index].hasEnded { flush(index) }
            states[index].hasStarted = true
            states[index].started = instant
        case "testEnded":
            states[index].hasEnded = true
            states[index].stopped = instant
            if states[index].isSkipped, states[index].reason == nil { states[index].reason = reason(payload) }
        case "testSkipped":
            states[index].isSkipped = true
            states[index].hasEnded = true
            states[index].reason = reason(payload)
        case "testCancelled":
            states[index].isSkipped = true
            states[index].reason = payload._comments?.first
        case "testCaseStarted":
            guard let text = arguments(payload), states[index].openCases.count < 64 else { break }
            states[index].openCases.append(text)
        case "testCaseEnded":
            // Swift 6.3 does not say which case ended. A case that may have ended is not named.
            if let name = payload._testCase?.displayName, let at = states[index].openCases.firstIndex(of: name) {
                states[index].openCases.remove(at: at)
            } else {
                states[index].openCases.removeAll()
            }
        case "issueRecorded":
            if let issue = payload.issue { record(issue, payload, index) }
        default: break
        }
    }

    private mutating func record(_ issue: EventRecord.Issue, _ payload: EventRecord.Payload, _ index: Int) {
        let open = states[index].openCases
        let arguments = payload._testCase?.displayName ?? (open.count == 1 ? open[0] : nil)
        let recorded = Issue(
            text: text(payload), file: issue.sourceLocation?.path, line: issue.sourceLocation?.line,
            column: issue.sourceLocation?.column, arguments: arguments.map { String($0.prefix(bytes: 1024)) })
        if issue.isKnown == true {
            if states[index].known == nil { states[index].known = recorded }
        } else if issue.fails {
            guard states[index].issues.count < 50, textBytes < limits.totalBytes else {
                states[index].moreIssues += 1
                return
            }
            textBytes += recorded.text.utf8.count
            states[index].issues.append(recorded)
        }
    }

    // MARK: Words

    /// The text of an issue with its comments.
    private func text(_ payload: EventRecord.Payload) -> String {
        let lines = (payload.messages ?? []).prefix(32).compactMap { $0.text }
        return String(lines.joined(separator: "\n").trimmed.prefix(bytes: limits.fieldBytes))
    }

    /// The text after `… skipped: ` and `… was cancelled after … seconds: `, without its quotes.
    private func reason(_ payload: EventRecord.Payload) -> String? {
        if let comment = payload._comments?.first { return comment }
        guard let text = payload.messages?.first?.text else { return nil }
        for mark in [" skipped: ", " seconds: "] {
            if let range = text.byteRange(of: mark) { return String(text[range.upperBound...]).unquoted }
        }
        return nil
    }

    /// The arguments of a case that starts: from version 0's own key, otherwise from its message.
    private func arguments(_ payload: EventRecord.Payload) -> String? {
        if let name = payload._testCase?.displayName { return name }
        guard let text = payload.messages?.first?.text, let from = text.byteRange(of: " argument"),
            let to = text.lastRange(of: " to ")
        else { return nil }
        let rest = text[from.upperBound...].drop { $0 == "s" }.drop { $0 == " " }
        guard rest.startIndex < to.lowerBound else { return nil }
        return String(rest[..<to.lowerBound].prefix(1024))
    }

    // MARK: Tests

    private mutating func declare(_ id: String, _ payload: EventRecord.Payload) {
        guard let index = index(of: id) else { return }
        states[index].file = payload.sourceLocation?.path
        states[index].line = payload.sourceLocation?.line
        states[index].isSuite = payload.kind == "suite"
        if let name = payload.name { (states[index].suite, states[index].name) = Self.names(id, name: name) }
    }

    private mutating func index(of id: String) -> Int? {
        if let index = tests[id] { return index }
        guard states.count < limits.tests else {
            collector.say(
                "describes more than \(limits.tests) tests: those after that are not in this report", key: "tests",
                suggestion: "Write one event stream per target, or raise the limit of tests per file.")
            return nil
        }
        let key = id.utf8.count > limits.nameBytes ? String(id.prefix(bytes: limits.nameBytes)) : id
        let (suite, name) = Self.names(key, name: nil)
        // Without a declaration, only an id with a location is a test's.
        states.append(State(suite: suite, name: name, isSuite: !key.hasSuffix(where: \.isNumber)))
        tests[id] = states.count - 1
        return states.count - 1
    }

    /// Splits `Module.Suite/Inner/test()/File.swift:3:6` in the same way as SwiftPM's JUnit report.
    static func names(_ id: String, name: String?) -> (suite: String, name: String) {
        var rest = id[...]
        if let slash = rest.lastIndex(of: "/"), rest[slash...].contains(".swift:") { rest = rest[..<slash] }
        if let name, rest.hasSuffix(name), rest.count > name.count {
            return (String(rest.dropLast(name.count + 1)).replacing("/", with: "."), name)
        }
        if let cut = rest.lastIndex(of: "/") ?? rest.firstIndex(of: ".") {
            return (String(rest[..<cut]).replacing("/", with: "."), String(rest[rest.index(after: cut)...]))
        }
        return ("", String(rest))
    }

    private mutating func flush(_ index: Int) {
        let state = states[index]
        states[index].issues = []
        states[index].moreIssues = 0
        states[index].known = nil
        states[index].isSkipped = false
        states[index].reason = nil
        states[index].hasEnded = false
        states[index].openCases = []
        if let result = result(of: state) { collector.add(result) }
    }

    private func result(of state: State) -> TestResult? {
        guard state.hasStarted || state.isSkipped || !state.issues.isEmpty else { return nil }
        // A suite is not a test, unless something failed in the suite itself.
        if state.isSuite, state.issues.isEmpty { return nil }
        var result = TestResult(
            suite: state.suite, name: state.name, status: .passed, file: state.file, line: state.line)
        if let started = state.started, let stopped = state.stopped, stopped >= started {
            result.duration = stopped - started
        }
        if let first = state.issues.first {
            result.status = first.text.hasPrefix("Caught error: ") ? .errored : .failed
            result.message = first.text
            if let file = first.file { (result.file, result.line) = (file, first.line) }
            var details = BoundedText(limit: limits.fieldBytes)
            for issue in state.issues { details.append((issue.sentence + "\n").utf8) }
            if state.moreIssues > 0 { details.append("… and \(state.moreIssues) more issues".utf8) }
            result.details = details.string
        } else if state.isSkipped {
            result.status = .skipped
            result.message = state.reason
        } else if !state.hasEnded, !ended {
            result.status = .errored
            result.message = "The test started and never ended: its process crashed or was stopped."
        } else if let known = state.known {
            result.status = .expectedFailure
            result.message = known.text
            if let file = known.file { (result.file, result.line) = (file, known.line) }
        }
        return result
    }

    private mutating func strayIssue(_ payload: EventRecord.Payload, _ issue: EventRecord.Issue) {
        collector.add(
            Finding(
                rule: "test-issue", severity: .error, message: "Outside of any test: \(text(payload))",
                file: issue.sourceLocation?.path, line: issue.sourceLocation?.line,
                column: issue.sourceLocation?.column,
                suggestion: "A task that outlives its test recorded this: await every task in the test."))
    }

    private mutating func finish() {
        for state in states {
            if let result = result(of: state) { collector.add(result) }
        }
        if !sawEvent {
            collector.say(
                "contains no events of Swift Testing", key: "none", line: 1, severity: .error,
                suggestion: "Write it with swift test --event-stream-output-path FILE --event-stream-version 0.")
        } else if !ended {
            let waiting = states.filter { !$0.isSuite && !$0.hasStarted && !$0.isSkipped }.count
            collector.say(
                "does not say that the run ended; \(waiting) declared tests never started", key: "end",
                severity: .error,
                suggestion: "The test process crashed or was stopped: check the end of the step's log.")
        }
    }
}

extension String {
    /// The text without the pair of `"` around it.
    var unquoted: String {
        utf8.count >= 2 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
    }

    fileprivate func hasSuffix(where matches: (Character) -> Bool) -> Bool { last.map(matches) ?? false }
}

extension String {
    fileprivate func lastRange(of text: String) -> Range<Index>? { ranges(of: text).last }
}
