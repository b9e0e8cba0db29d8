import ForeignText
import Results

/// Turns the elements of a JUnit XML report, in any known dialect, into results.
///
/// There is no single schema. Comments name the tool where its dialect is handled.
struct JUnitReading: ResultReading {
    static let format = ResultFormat.junit

    private var collector: ResultCollector
    private let limits: TestResultLimits
    private var open: [Element] = []
    private var tooDeep = 0
    private var suites: [Suite] = []
    private var test: OpenTest?
    private var outcome: Outcome?
    private var output: BoundedText?
    private var unnamed = 0
    private var sawElement = false
    private var sawJUnit = false
    private var elementsWithFailure = 0
    /// The outermost suite that counts more failures than it lists.
    private var unlisted: (declared: Int, listed: Int, line: Int)?

    private enum Element {
        case group(name: String), test, outcome(name: String), stackTrace(name: String), output(name: String)
        case other(name: String)
        var name: String {
            switch self {
            case .group(let name), .outcome(let name), .stackTrace(let name), .output(let name), .other(let name): name
            case .test: "testcase"
            }
        }
    }

    private struct Suite {
        var name: String
        var file: String?
        /// pytest counts lines from 0.
        var countsLinesFromZero: Bool
        /// The tests of this suite itself. If there is only one, it gets the suite's output (Bazel).
        var pending: [OpenTest.Finished] = []
        /// The number of failures and errors in the suite's attributes, its line, and how many were listed before it.
        var declared: (failures: Int, line: Int, before: Int)
        var tests = 0
        var output: BoundedText
    }

    private struct Outcome {
        enum Kind { case failure, error, skipped, rerun(TestResult.Status), flaky(TestResult.Status) }
        var kind: Kind
        var message: String?
        var type: String?
        var time: Double?
        var text: BoundedText
        var stackTrace: BoundedText
    }

    private struct OpenTest {
        struct Finished { var tries: [TestResult]; var origin: TestOrigin }
        var name: String
        var suite: String
        var file: String?
        var line: Int?
        var time: Double?
        var status: String?
        var outcomes: [Outcome] = []
        var output: BoundedText
        var origin: TestOrigin
    }

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
    }

    mutating func read(_ source: ByteSource) -> TestResults {
        var tokens = XMLTokenizer(source, valueLimit: limits.fieldBytes)
        reading: while !collector.isFull {
            switch tokens.next() {
            case .start(let name, let attributes, let isEmpty):
                start(name, attributes, line: tokens.source.line)
                if isEmpty { close() }
            case .end(let name):
                if tooDeep == 0, open.last?.name != name {
                    let expected = open.last.map { "where </\($0.name)> belongs" } ?? "that nothing opened"
                    collector.sayBroken("has </\(shown(name))> \(expected)", line: tokens.source.line)
                    break reading
                }
                close()
            case .text(let bytes): text(bytes, line: tokens.source.line)
            case .finished:
                if let last = open.last { collector.sayBroken("ends inside <\(last.name)>", line: tokens.source.line) }
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
        sawElement = true
        guard tooDeep == 0, open.count < limits.depth else {
            tooDeep += 1
            collector.say(
                "nests more than \(limits.depth) elements: deeper elements were skipped", key: "depth", line: line,
                suggestion: "Check what wrote it; no known test tool nests that deep.")
            return
        }
        switch name {
        case "testsuites", "testsuite":
            guard test == nil else { fallthrough }
            sawJUnit = true
            begin(group: name, attributes, line: line)
            open.append(.group(name: name))
        case "testcase":
            guard test == nil else { fallthrough }
            sawJUnit = true
            begin(test: attributes)
            open.append(.test)
        default: startInside(name, attributes)
        }
    }

    private mutating func startInside(_ name: String, _ attributes: XMLAttributes) {
        guard test != nil else {
            if name == "system-out" || name == "system-err", !suites.isEmpty {
                open.append(.output(name: name))
                output = BoundedText(limit: limits.fieldBytes)
            } else {
                open.append(.other(name: name))
            }
            return
        }
        if outcome != nil {
            open.append(name == "stackTrace" ? .stackTrace(name: name) : .other(name: name))
            return
        }
        if let kind = kind(of: name) {
            if case .skipped = kind {} else { elementsWithFailure += 1 }
            // Java writes the exception's name first; PHP and Python write nothing else.
            outcome = Outcome(
                kind: kind, message: attributes["message"], type: attributes["type"],
                time: attributes["time"].flatMap(Seconds.read), text: BoundedText(limit: limits.fieldBytes),
                stackTrace: BoundedText(limit: limits.fieldBytes))
            open.append(.outcome(name: name))
        } else if name == "system-out" || name == "system-err" {
            open.append(.output(name: name))
            output = BoundedText(limit: limits.fieldBytes)
        } else {
            open.append(.other(name: name))
        }
    }

    private func kind(of name: String) -> Outcome.Kind? {
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
        if tooDeep > 0 { return }
        switch open.last {
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
        if tooDeep > 0 {
            tooDeep -= 1
            return
        }
        switch open.popLast() {
        case .group: endGroup()
        case .test: endTest()
        case .outcome:
            if let outcome, (test?.outcomes.count ?? 0) < 200 { test?.outcomes.append(outcome) }
            outcome = nil
        case .output(let name):
            guard let output, !output.isEmpty else { break }
            let text = output.string
            if !text.isEmpty {
                let part = Array("\n\n\(name):\n\(text)".utf8)
                if test != nil { test?.output.append(part) } else { suites[suites.count - 1].output.append(part) }
            }
            self.output = nil
        case .stackTrace, .other, nil: break
        }
    }

    // MARK: Suites

    private mutating func begin(group name: String, _ attributes: XMLAttributes, line: Int) {
        var own = attributes["name"]?.trimmed ?? ""
        // CTest's name for a build that has none.
        if own == "(empty)" { own = "" }
        // The outermost <testsuites> has a title, which is not part of the tests' names.
        let outer = suites.last?.name ?? ""
        let joined = name == "testsuites" || own.isEmpty ? outer : outer.isEmpty ? own : outer + "/" + own
        let package = attributes["package"]?.trimmed ?? ""
        suites.append(
            Suite(
                name: String((joined.isEmpty ? package : joined).prefix(bytes: limits.nameBytes)),
                file: attributes["file"] ?? attributes["filepath"] ?? suites.last?.file,
                countsLinesFromZero: own == "pytest" || own == "pytest tests"
                    || suites.last?.countsLinesFromZero == true,
                declared: (
                    (Int(attributes["failures"] ?? "") ?? 0) &+ (Int(attributes["errors"] ?? "") ?? 0), line,
                    elementsWithFailure
                ), output: BoundedText(limit: limits.fieldBytes)))
    }

    private mutating func endGroup() {
        guard let suite = suites.popLast() else { return }
        let listed = elementsWithFailure - suite.declared.before
        if suite.declared.failures > listed { unlisted = (suite.declared.failures, listed, suite.declared.line) }
        for var finished in suite.pending {
            let output = suite.output.string
            let last = finished.tries.count - 1
            if suite.tests == 1, !output.isEmpty, finished.tries[last].status.isFailure {
                finished.tries[last].details = (finished.tries[last].details ?? "") + "\n\n" + output
                if finished.tries[last].line == nil,
                    let place = SourceLocator(declaredFile: nil, suite: "").locate(in: [output])
                {
                    finished.tries[last].file = place.file
                    finished.tries[last].line = place.line
                }
            }
            collector.add(tries: finished.tries, from: finished.origin)
        }
    }

    // MARK: Tests

    private mutating func begin(test attributes: XMLAttributes) {
        let path = suites.last?.name ?? ""
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
        if suites.last?.countsLinesFromZero == true { line = line.map { $0 &+ 1 } }
        let file = attributes["file"] ?? attributes["filepath"] ?? suites.last?.file
        test = OpenTest(
            name: name, suite: suite, file: file.flatMap { $0.isEmpty ? nil : $0 }, line: line,
            time: attributes["time"].flatMap(Seconds.read),
            status: (attributes["result"] ?? attributes["status"])?.lowercased(),
            output: BoundedText(limit: limits.fieldBytes), origin: TestOrigin(suite: path, file: file))
    }

    private mutating func endTest() {
        guard let finished = test else { return }
        test = nil
        if finished.outcomes.isEmpty, Self.status(finished.status)?.isFailure == true { elementsWithFailure += 1 }
        let tries = tries(of: finished)
        guard !suites.isEmpty else {
            collector.add(tries: tries, from: finished.origin)
            return
        }
        let last = suites.count - 1
        suites[last].tests += 1
        // Only a suite's first test can turn out to be its only one, so no other test waits.
        if suites[last].tests == 1 {
            suites[last].pending = [OpenTest.Finished(tries: tries, origin: finished.origin)]
        } else {
            for waiting in suites[last].pending { collector.add(tries: waiting.tries, from: waiting.origin) }
            suites[last].pending = []
            collector.add(tries: tries, from: finished.origin)
        }
    }

    private func tries(of test: OpenTest) -> [TestResult] {
        var base = TestResult(
            suite: test.suite, name: test.name, status: .passed, duration: test.time, file: test.file, line: test.line)
        var before: [TestResult] = []
        var after: [TestResult] = []
        var own: [Outcome] = []
        for outcome in test.outcomes {
            switch outcome.kind {
            case .flaky(let status): before.append(attempt(outcome, status, of: test))
            case .rerun(let status): after.append(attempt(outcome, status, of: test))
            default: own.append(outcome)
            }
        }
        settle(&base, own, of: test)
        return before + [base] + after
    }

    /// One listed try of Surefire or nextest, which give no other facts about it.
    private func attempt(_ outcome: Outcome, _ status: TestResult.Status, of test: OpenTest) -> TestResult {
        var result = TestResult(
            suite: test.suite, name: test.name, status: status, duration: outcome.time, file: test.file,
            line: test.line)
        describe(&result, [outcome], output: "", of: test)
        return result
    }

    private func settle(_ result: inout TestResult, _ outcomes: [Outcome], of test: OpenTest) {
        let failures = outcomes.filter { if case .skipped = $0.kind { false } else { true } }
        let skip = outcomes.first { if case .skipped = $0.kind { true } else { false } }
        if let skip {
            let text = skip.text.string
            let reason = FailureText.reason(attribute: skip.message, text: text)
            result.message = reason
            if skip.type == "pytest.xfail" || skip.type == "XFAIL" || (skip.type == "todo" && !failures.isEmpty) {
                result.status = .expectedFailure
                return
            }
            if failures.isEmpty {
                // CTest counts a test whose program is missing as failed.
                let missing = test.status == "notrun" && reason?.hasPrefix("Unable to find executable") == true
                result.status = missing ? .errored : .skipped
                if result.line == nil, let place = locator(of: test).locate(in: [text, skip.message]) {
                    (result.file, result.line) = (place.file, place.line)
                }
                return
            }
        }
        guard !failures.isEmpty else {
            settle(&result, byStatus: test)
            return
        }
        let onlyErrors = failures.allSatisfy { if case .error = $0.kind { true } else { false } }
        result.status = onlyErrors ? .errored : .failed
        describe(&result, failures, output: String(cleaning: test.output.bytes), of: test)
    }

    /// Some tools have no child element, only a word.
    private func settle(_ result: inout TestResult, byStatus test: OpenTest) {
        guard let status = Self.status(test.status) else { return }
        result.status = status
        if result.status.isFailure {
            describe(&result, [], output: String(cleaning: test.output.bytes), of: test)
        } else if test.status == "disabled" {
            result.message = "disabled"
        }
    }

    private static func status(_ word: String?) -> TestResult.Status? {
        switch word {
        case "failed", "fail", "failure": .failed
        case "error", "errored", "broken": .errored
        case "skipped", "disabled", "notrun", "ignored", "pending", "suppressed": .skipped
        default: nil
        }
    }

    private func locator(of test: OpenTest) -> SourceLocator {
        SourceLocator(declaredFile: test.file, suite: test.suite)
    }

    private func describe(_ result: inout TestResult, _ outcomes: [Outcome], output: String, of test: OpenTest) {
        var parts: [String] = []
        for (index, outcome) in outcomes.enumerated() {
            let trace = outcome.stackTrace.isEmpty ? outcome.text.string : outcome.stackTrace.string
            let message = FailureText.message(
                attribute: outcome.message, type: outcome.type, text: trace, test: test.name)
            if index == 0 { result.message = message } else if let message { parts.append(message) }
            // SwiftPM's --experimental-xunit-message-failure puts a whole log into the message.
            if let whole = outcome.message, whole.utf8.count > (message?.utf8.count ?? 0) + 16, index == 0 {
                parts.append(whole.trimmed)
            }
            if !trace.isEmpty { parts.append(trace) }
        }
        if !output.isEmpty { parts.append(output.trimmed) }
        // The first line keeps its indentation; only blank lines before it are removed.
        var details = BoundedText(limit: .max)
        details.append(parts.joined(separator: "\n\n").utf8)
        result.details = details.string.isEmpty ? nil : details.string
        var texts: [String?] = []
        for outcome in outcomes { texts += [outcome.message, outcome.stackTrace.string, outcome.text.string] }
        texts.append(output)
        let place = locator(of: test).locate(in: texts)
        if let place { (result.file, result.line) = (place.file, place.line) }
        if result.message == nil, !output.isEmpty { result.message = OutputText.message(in: output, at: place) }
    }

    // MARK: The end

    private mutating func finish() {
        // A test that was open where the file breaks counts only if it had already failed.
        if let outcome { test?.outcomes.append(outcome) }
        if test?.outcomes.isEmpty == false { endTest() }
        while !suites.isEmpty { endGroup() }
        if !sawJUnit, collector.results.findings.allSatisfy({ $0.severity != .error }) {
            collector.say(
                sawElement
                    ? "is XML but not a JUnit report: it has no <testsuite> and no <testcase>"
                    : "contains no JUnit report",
                line: 1, severity: .error,
                suggestion: "Check the path and format the step declares for its test results.")
        }
        if let unlisted, collector.results.findings.allSatisfy({ $0.severity != .error }) {
            // gotestsum counts a package that does not compile, but lists no test for it.
            collector.say(
                "counts \(unlisted.declared) failures and errors but lists \(unlisted.listed)", line: unlisted.line,
                suggestion: "Check the step's log: something failed outside of a test, such as a build or a set-up.")
        }
    }
}
