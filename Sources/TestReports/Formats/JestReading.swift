import ForeignText
import Results

/// Reads Jest's own JSON (`jest --json --outputFile=FILE`) and that of Vitest, which has the same form.
///
/// Source: Jest, `packages/jest-test-result/src/formatTestResults.ts`.
struct JestReading: JSONReading {
    static let format = ResultFormat(rawValue: "jest")

    var collector: ResultCollector
    /// The tests of one file. The file's name follows them.
    private var tests: [Test] = []
    private var keptBytes = 0
    private var file: String?
    private var message: String?
    private var failed = false
    private var sawResults = false

    /// The facts that are kept of a test until its file's name is known.
    private struct Test {
        var suite: String
        var name: String
        var status: String?
        var seconds: Double?
        var line: Int?
        var messages: [String] = []
        var retries: [String] = []
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("numTotalTests") || start.keys.contains("numFailedTests")
            || start.keys.contains("testResults[].assertionResults")
    }

    func wish(at path: String) -> JSONWish {
        switch path {
        case "", "testResults", "testResults[]", "testResults[].assertionResults", "testResults[].testResults": .enter
        case "testResults[].assertionResults[]", "testResults[].name", "testResults[].message", "testResults[].status",
            // The object that a results processor receives, which some write unchanged.
            "testResults[].testResults[]", "testResults[].testFilePath", "testResults[].failureMessage":
            .take
        default: .skip
        }
    }

    mutating func take(_ value: JSONValue, at path: String) {
        sawResults = true
        switch path {
        case "testResults[].name", "testResults[].testFilePath": file = value.text
        case "testResults[].message": message = value.text
        case "testResults[].failureMessage":
            message = value.text
            failed = message != nil
        case "testResults[].status": failed = value.text == "failed"
        default: keep(value)
        }
    }

    /// Keeps only the facts that a result needs, because one file's tests may be a whole report.
    private mutating func keep(_ value: JSONValue) {
        let limits = collector.limits
        guard tests.count < limits.tests else { return collector.sayTestsAreLeftOut() }
        let suite = value["ancestorTitles"]?.elements.compactMap(\.text).joined(separator: " ") ?? ""
        var test = Test(
            suite: collector.nameWithinLimit(suite.trimmed),
            name: collector.nameWithinLimit(value["title"]?.text ?? value["fullName"]?.text ?? "(unnamed)"),
            status: value["status"]?.text, seconds: Seconds.ofMilliseconds(value["duration"]?.number),
            line: value["location"]?["line"]?.int)
        if test.status == "failed" { test.messages = texts(value["failureMessages"]) }
        test.retries = Array(texts(value["retryReasons"]).prefix(20))
        let bytes = (test.messages + test.retries).reduce(0) { $0 + $1.utf8.count }
        if keptBytes + bytes > limits.totalBytes {
            (test.messages, test.retries) = ([], [])
            collector.sayTextIsLeftOut()
        } else {
            keptBytes += bytes
        }
        tests.append(test)
    }

    /// The texts of a list, up to the one that fills a field.
    private func texts(_ list: JSONValue?) -> [String] {
        var kept: [String] = []
        var bytes = 0
        for element in list?.elements ?? [] where bytes <= collector.limits.fieldBytes {
            guard let text = element.text else { continue }
            kept.append(text)
            // An empty text costs memory, too.
            bytes += text.utf8.count + 2
        }
        return kept
    }

    mutating func leave(_ path: String) {
        if path == "testResults" { sawResults = true }
        guard path == "testResults[]" else { return }
        defer { (tests, keptBytes, file, message, failed) = ([], 0, nil, nil, false) }
        for test in tests { add(test) }
        // A file that can't be loaded has no tests, and its message has the whole text.
        if tests.isEmpty, failed {
            var result = TestResult(suite: "", name: file ?? "(file)", status: .errored, file: file)
            result.name = file?.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? "(file)"
            var parts = FailureParts(trace: message)
            parts.type = "Test suite failed to run"
            parts.describe(&result)
            collector.add(result, from: TestOrigin(file: file))
        }
    }

    private mutating func add(_ test: Test) {
        var result = TestResult(
            suite: test.suite, name: test.name, status: .passed, duration: test.seconds, file: file, line: test.line)
        let origin = TestOrigin(file: file)
        let tries = test.retries.map { describe([$0], in: result) }
        switch test.status {
        case "passed", "focused": break
        case "failed": result = describe(test.messages, in: result)
        case "pending", "skipped", "todo", "disabled":
            result.status = .skipped
            if test.status == "todo" { result.message = "todo" }
        default: result.status = .errored
        }
        collector.add(tries: tries + [result], from: origin)
    }

    private func describe(_ messages: [String], in result: TestResult) -> TestResult {
        var result = result
        result.status = .failed
        var parts = FailureParts()
        let first = messages.first ?? ""
        parts.message = FailureText.withoutFrames(first)
        parts.trace = messages.joined(separator: "\n\n")
        parts.describe(&result)
        return result
    }

    mutating func finish() {
        // The tests of a file whose end is missing.
        if !tests.isEmpty { leave("testResults[]") }
        if !sawResults {
            collector.say(
                "has no \"testResults\"", key: "none", severity: .error,
                suggestion: "Write it with jest --json --outputFile=FILE.")
        }
    }
}
