import ForeignText
import Results

/// Reads what `xcrun xcresulttool get test-results tests` prints of Xcode's result bundle, and `… summary`.
///
/// Source: the JSON schemas that `xcresulttool help get test-results tests` and `… summary` print (Xcode 16 and later). The
/// tool sorts keys, so a node's children come before what it is. A test therefore waits until its bundle's name is known.
struct XCResultReading: JSONReading {
    static let format = ResultFormat(rawValue: "xcresult")

    var collector: ResultCollector
    /// The nodes that are open, by their paths.
    private var open: [String: Node] = [:]
    /// The tests of a bundle whose name follows.
    private var waiting: [[TestResult]] = []
    private var waitingBytes = 0
    private var sawResults = false
    /// Whether the file is a summary, which names only the tests that failed.
    private var sawSummary = false

    /// The most nodes below one test that are kept, and the most bytes of their texts.
    private static let mostParts = 2_000
    private static let mostPartBytes = 1 << 20

    private struct Node {
        var type = ""
        var name = ""
        var identifier: String?
        var details: String?
        var result: String?
        var seconds: Double?
        var file: String?
        var line: Int?
        var children: [Node] = []
        var parts = 0
        var bytes = 0

        func all(_ type: String) -> [Node] { children.filter { $0.type == type } }

        /// Nodes of a kind at any depth, in order.
        func deep(_ type: String) -> [Node] {
            children.flatMap { ($0.type == type ? [$0] : []) + $0.deep(type) }
        }
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("testNodes")
            && (start.keys.contains("devices") || start.keys.contains { $0.hasPrefix("testNodes[].") })
            || start.keys.contains("devicesAndConfigurations") && start.keys.contains("testFailures")
            || start.keys.contains("testFailures") && start.keys.contains("totalTestCount")
    }

    // MARK: Walking

    func wish(at path: String) -> JSONWish {
        if path.isEmpty || path == "testNodes" || path == "testFailures" { return .enter }
        if path == "testFailures[]" { return .take }
        guard path.hasPrefix("testNodes[]") else { return .skip }
        if path.hasSuffix("[]") { return path == "testNodes[]" || path.hasSuffix(".children[]") ? .enter : .skip }
        switch path.split(separator: ".").last {
        case "children": return .enter
        case "nodeType", "name", "nodeIdentifier", "details", "result", "duration", "durationInSeconds",
            "sourceLocation":
            return .take
        default: return .skip
        }
    }

    mutating func take(_ value: JSONValue, at path: String) {
        if path == "testFailures[]" { return takeFailure(value) }
        guard let dot = path.lastIndex(of: ".") else { return }
        let key = path[path.index(after: dot)...]
        var node = open.removeValue(forKey: String(path[..<dot])) ?? Node()
        switch key {
        case "nodeType": node.type = value.text ?? ""
        case "name": node.name = value.text ?? ""
        case "nodeIdentifier": node.identifier = value.text
        case "details": node.details = value.text
        case "result": node.result = value.text
        case "durationInSeconds": node.seconds = Seconds.bounded(value.number)
        case "duration": node.seconds = node.seconds ?? Self.seconds(value.text ?? "")
        case "sourceLocation":
            node.file = value["filePath"]?.text
            node.line = value["lineNumber"]?.int
        default: break
        }
        open[String(path[..<dot])] = node
    }

    mutating func leave(_ path: String) {
        if path == "testFailures" { sawSummary = true }
        if path == "testNodes" { sawResults = true }
        guard path == "testNodes[]" || path.hasPrefix("testNodes[]") && path.hasSuffix(".children[]") else { return }
        let node = open.removeValue(forKey: path) ?? Node()
        switch node.type {
        case "Test Case": keep(node)
        case "Unit test bundle", "UI test bundle": emit(bundle: node.name)
        // What encloses tests is done with them.
        case "Test Plan", "Test Suite": break
        default: attach(node, at: path)
        }
    }

    private mutating func attach(_ node: Node, at path: String) {
        guard path.hasSuffix(".children[]") else { return }
        let parent = String(path.dropLast(".children[]".utf8.count))
        // In place: a copy of the children for each would take square time.
        var holder = open.removeValue(forKey: parent) ?? Node()
        let bytes = node.bytes + node.name.utf8.count + (node.details?.utf8.count ?? 0)
        if holder.parts + node.parts < Self.mostParts, holder.bytes + bytes < Self.mostPartBytes {
            holder.parts += node.parts + 1
            holder.bytes += bytes
            holder.children.append(node)
        }
        open[parent] = holder
    }

    /// `0.12s`, `0,12s`, `1m 3s`, `2h 1m 3s`.
    private static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        var sum = 0.0
        let parts = text.split(separator: " ").prefix(5)
        for part in parts {
            guard let unit = part.last.flatMap({ units[$0] }), let number = Seconds.read(String(part.dropLast()))
            else { return nil }
            sum += number * unit
        }
        return parts.isEmpty ? nil : Seconds.bounded(sum)
    }

    // MARK: Tests

    private mutating func keep(_ node: Node) {
        sawResults = true
        // As in "Outer/Inner/adds(a:b:)".
        var path = (node.identifier ?? node.name).split(separator: "/").map(String.init)
        let last = path.popLast() ?? "(unnamed)"
        let base = TestResult(
            suite: path.joined(separator: "/"), name: last, status: .passed, file: node.file, line: node.line)
        for tries in results(of: node, base) {
            guard waiting.count < collector.limits.tests else { return collector.sayTestsAreLeftOut() }
            var tries = tries
            let bytes = tries.reduce(0) { $0 + ($1.message?.utf8.count ?? 0) + ($1.details?.utf8.count ?? 0) }
            if waitingBytes + bytes > collector.limits.totalBytes {
                for index in tries.indices { (tries[index].message, tries[index].details) = (nil, nil) }
                collector.sayTextIsLeftOut()
            } else {
                waitingBytes += bytes
            }
            waiting.append(tries)
        }
    }

    /// The tests that a node stands for, each with its tries: one for each device, configuration and argument.
    private func results(of node: Node, _ base: TestResult) -> [[TestResult]] {
        for type in ["Device", "Test Plan Configuration"] {
            let parts = node.all(type)
            guard !parts.isEmpty else { continue }
            return parts.flatMap { part in
                var base = base
                if parts.count > 1 { base.name += " [\(part.name)]" }
                return results(of: part, base)
            }
        }
        let arguments = node.all("Arguments")
        if !arguments.isEmpty {
            return arguments.flatMap { part in
                var base = base
                base.name += " (\(part.name))"
                return results(of: part, base)
            }
        }
        let tries = node.all("Repetition") + node.all("Test Case Run")
        return [tries.isEmpty ? [result(of: node, base)] : tries.map { result(of: $0, base) }]
    }

    private func result(of node: Node, _ base: TestResult) -> TestResult {
        var result = base
        result.duration = node.seconds
        let attachments = node.deep("Attachment").map { "Attachment: \($0.name)" }
        switch node.result {
        case "Passed": break
        case "Skipped":
            result.status = .skipped
            result.message = node.deep("Skip Message").first?.name ?? node.details
        case "Expected Failure":
            result.status = .expectedFailure
            result.message = node.deep("Expected Failure").first?.name
        case "Failed":
            result.status = .failed
            describe(&result, node, attachments)
        default:
            result.status = .errored
            describe(&result, node, attachments)
            result.message = result.message ?? "the test has no result: it crashed, or was stopped"
        }
        return result
    }

    private func describe(_ result: inout TestResult, _ node: Node, _ attachments: [String]) {
        let failures = node.deep("Failure Message")
        let warnings = node.deep("Runtime Warning").map { "Runtime warning: \($0.name)" }
        var parts = FailureParts()
        let first = failures.first.map { Self.place(in: $0) }
        parts.message = first?.text ?? node.details
        let more = failures.dropFirst().map(\.name) + warnings + attachments
        parts.trace = more.isEmpty ? nil : more.joined(separator: "\n")
        parts.describe(&result)
        if let first, let file = first.file { (result.file, result.line) = (file, first.line) }
    }

    /// A failure's place and words. Its text begins with the place, as in `SumTests.swift:18: XCTAssertTrue failed`.
    private static func place(in failure: Node) -> (file: String?, line: Int?, text: String) {
        let parts = failure.name.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].contains("."), !parts[0].contains(" "), let line = Int(parts[1]),
            parts[2].hasPrefix(" ")
        else { return (failure.file, failure.line, failure.name) }
        return (failure.file ?? String(parts[0]), failure.line ?? line, String(parts[2].dropFirst()))
    }

    /// Hands the waiting tests on, as those of a bundle.
    private mutating func emit(bundle: String) {
        for var tries in waiting {
            for index in tries.indices where !bundle.isEmpty {
                let suite = tries[index].suite
                tries[index].suite = suite.isEmpty ? bundle : "\(bundle).\(suite)"
            }
            collector.add(tries: tries)
        }
        (waiting, waitingBytes) = ([], 0)
    }

    // MARK: Summary

    private mutating func takeFailure(_ value: JSONValue) {
        sawSummary = true
        var path = (value["testIdentifierString"]?.text ?? value["testName"]?.text ?? "(unnamed)")
            .split(separator: "/").map(String.init)
        let name = path.popLast() ?? "(unnamed)"
        let suite = path.joined(separator: "/")
        var result = TestResult(suite: suite, name: name, status: .failed)
        if let target = value["targetName"]?.text { result.suite = suite.isEmpty ? target : "\(target).\(suite)" }
        FailureParts(message: value["failureText"]?.text).describe(&result)
        collector.add(result)
    }

    mutating func finish() {
        emit(bundle: "")
        if sawSummary {
            collector.say(
                "is a summary, which names only the tests that failed", key: "summary",
                suggestion: "Write all tests: xcrun xcresulttool get test-results tests --path BUNDLE > FILE.")
        } else if !sawResults {
            collector.say(
                "has no \"testNodes\"", key: "none", severity: .error,
                suggestion: "Write it with xcrun xcresulttool get test-results tests --path BUNDLE > FILE.")
        }
    }
}
