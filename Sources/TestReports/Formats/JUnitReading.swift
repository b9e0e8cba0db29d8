import ForeignText
import Results

/// Turns the elements of a JUnit XML report, in any known dialect, into results.
///
/// There is no single schema. Comments name the tool where its dialect is handled.
struct JUnitReading: ResultReading {
    static let format = ResultFormat.junit

    private var collector: ResultCollector
    private let limits: TestResultLimits
    private var elements: JUnitElements
    private var suites: JUnitSuites
    private var test: JUnitTest?
    private var outcome: JUnitTest.Outcome?
    private var output: BoundedText?
    private var unnamed = 0
    private var sawJUnit = false

    static func recognises(_ start: FileStart) -> Bool {
        if let root = start.root, ["testsuites", "testsuite", "testcase"].contains(root) { return true }
        guard start.first != UInt8(ascii: "<") else {
            // Some tools put it below an element of their own. A file that is broken from the start is reported as
            // broken.
            return start.root == nil || start.holdsAny(of: ["<testsuite", "<testcase"])
        }
        // Some tools print something before it.
        return start.keys.isEmpty && start.holdsAny(of: ["<testsuite", "<testcase"])
    }

    init(name: String, limits: TestResultLimits) {
        collector = ResultCollector(name: name, limits: limits)
        self.limits = limits
        elements = JUnitElements(depth: limits.depth)
        suites = JUnitSuites(limits: limits)
    }

    mutating func read(_ source: ByteSource) -> TestResults {
        var tokens = XMLTokenizer(source, valueLimit: limits.fieldBytes)
        reading: while !collector.isFull {
            switch tokens.next() {
            case .start(let name, let attributes, let isEmpty):
                start(name, attributes, line: tokens.source.line)
                if isEmpty { close() }
            case .end(let name):
                if !elements.mayEnd(name) {
                    let expected = elements.last.map { "where </\($0.name)> belongs" } ?? "that nothing opened"
                    collector.sayBroken("has </\(shown(name))> \(expected)", line: tokens.source.line)
                    break reading
                }
                close()
            case .text(let bytes): text(bytes, line: tokens.source.line)
            case .finished:
                if let last = elements.last {
                    collector.sayBroken("ends inside <\(last.name)>", line: tokens.source.line)
                }
                break reading
            case .broken(let what):
                collector.sayBroken(what, line: tokens.source.line)
                break reading
            case .refused:
                collector.sayRefused(line: tokens.source.line)
                break reading
            }
        }
        finish()
        return collector.finished()
    }

    private func shown(_ name: String) -> String { String(name.prefix(bytes: 64)) }

    // MARK: Elements

    private mutating func start(_ name: String, _ attributes: XMLAttributes, line: Int) {
        guard elements.mayStart() else {
            collector.say(
                "nests more than \(limits.depth) elements: deeper elements were skipped", key: "depth", line: line,
                suggestion: "Check what wrote it; no known test tool nests that deep.")
            return
        }
        switch name {
        case "testsuites", "testsuite":
            guard test == nil else { fallthrough }
            sawJUnit = true
            suites.begin(name, attributes, line: line)
            elements.open(.group(name: name))
        case "testcase":
            guard test == nil else { fallthrough }
            sawJUnit = true
            begin(test: attributes)
            elements.open(.test)
        default: startInside(name, attributes)
        }
    }

    private mutating func startInside(_ name: String, _ attributes: XMLAttributes) {
        guard test != nil else {
            if name == "system-out" || name == "system-err", !suites.isEmpty {
                elements.open(.output(name: name))
                output = BoundedText(limit: limits.fieldBytes)
            } else {
                elements.open(.other(name: name))
            }
            return
        }
        if outcome != nil {
            elements.open(name == "stackTrace" ? .stackTrace(name: name) : .other(name: name))
            return
        }
        if let kind = kind(of: name) {
            if case .skipped = kind {} else { suites.noteFailure() }
            // Java writes the exception's name first; PHP and Python write nothing else.
            outcome = JUnitTest.Outcome(
                kind: kind, message: attributes["message"], type: attributes["type"],
                time: attributes["time"].flatMap(Seconds.read), text: BoundedText(limit: limits.fieldBytes),
                stackTrace: BoundedText(limit: limits.fieldBytes))
            elements.open(.outcome(name: name))
        } else if name == "system-out" || name == "system-err" {
            elements.open(.output(name: name))
            output = BoundedText(limit: limits.fieldBytes)
        } else {
            elements.open(.other(name: name))
        }
    }

    private func kind(of name: String) -> JUnitTest.Outcome.Kind? {
        switch name {
        case "failure": .failure
        case "error": .error
        case "skipped", "ignored", "disabled": .skipped
        case "rerunFailure": .rerun(.failed)
        case "rerunError": .rerun(.errored)
        case "flakyFailure": .flaky(.failed)
        case "flakyError": .flaky(.errored)
        default: nil
        }
    }

    private mutating func text(_ bytes: ArraySlice<UInt8>, line: Int) {
        if elements.isTooDeep { return }
        switch elements.last {
        case .outcome: outcome?.text.append(bytes)
        case .stackTrace: outcome?.stackTrace.append(bytes)
        case .output: output?.append(bytes)
        case nil where !bytes.allSatisfy({ $0.isXMLSpace || $0 == 0 || $0 >= 0x80 }):
            collector.say(
                "has text outside of its XML", key: "outside", line: line,
                suggestion: "Keep log output out of the result file: name a file with the test tool's own option.")
        default: break
        }
    }

    private mutating func close() {
        switch elements.close() {
        case .group: suites.end(addingTo: &collector)
        case .test: endTest()
        case .outcome:
            if let outcome, (test?.outcomes.count ?? 0) < 200 { test?.outcomes.append(outcome) }
            outcome = nil
        case .output(let name):
            guard let output, !output.isEmpty else { break }
            let text = output.string
            if !text.isEmpty {
                let part = Array("\n\n\(name):\n\(text)".utf8)
                if test != nil { test?.output.append(part) } else { suites.append(output: part) }
            }
            self.output = nil
        case .stackTrace, .other, nil: break
        }
    }

    // MARK: Tests

    private mutating func begin(test attributes: XMLAttributes) {
        let path = suites.name
        var name = attributes["name"]?.trimmed ?? ""
        if name.isEmpty {
            unnamed += 1
            name = "(unnamed \(unnamed))"
        }
        var suite = attributes["classname"]?.trimmed ?? ""
        if suite.isEmpty { suite = attributes["class"]?.trimmed ?? "" }
        // Node's runner writes "test" for every class; CTest and Bazel repeat the test's name.
        if suite.isEmpty || suite == name || (suite == "test" && !path.isEmpty) { suite = path == name ? "" : path }
        var line = attributes["line"].flatMap { Int($0) } ?? attributes["lineno"].flatMap { Int($0) }
        if suites.countsLinesFromZero { line = line.map { $0 &+ 1 } }
        let file = attributes["file"] ?? attributes["filepath"] ?? suites.file
        test = JUnitTest(
            name: name, suite: suite, file: file.flatMap { $0.isEmpty ? nil : $0 }, line: line,
            time: attributes["time"].flatMap(Seconds.read),
            status: (attributes["result"] ?? attributes["status"])?.lowercased(),
            output: BoundedText(limit: limits.fieldBytes), origin: TestOrigin(suite: path, file: file))
    }

    private mutating func endTest() {
        guard let finished = test else { return }
        test = nil
        if finished.failsByStatusAlone { suites.noteFailure() }
        suites.add(JUnitTest.Finished(tries: finished.tries, origin: finished.origin), to: &collector)
    }

    // MARK: The end

    private mutating func finish() {
        // A test that was open where the file breaks counts only if it had already failed.
        if let outcome { test?.outcomes.append(outcome) }
        if test?.outcomes.isEmpty == false { endTest() }
        while !suites.isEmpty { suites.end(addingTo: &collector) }
        if !sawJUnit, collector.results.findings.allSatisfy({ $0.severity != .error }) {
            collector.say(
                elements.sawAny
                    ? "is XML but not a JUnit report: it has no <testsuite> and no <testcase>"
                    : "contains no JUnit report",
                line: 1, severity: .error,
                suggestion: "Check the path and format the step declares for its test results.")
        }
        if let unlisted = suites.unlisted, collector.results.findings.allSatisfy({ $0.severity != .error }) {
            // gotestsum counts a package that does not compile, but lists no test for it.
            collector.say(
                "counts \(unlisted.declared) failures and errors but lists \(unlisted.listed)", line: unlisted.line,
                suggestion: "Check the step's log: something failed outside of a test, such as a build or a set-up.")
        }
    }
}
