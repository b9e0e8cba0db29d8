/// Reads Jest's own JSON (`jest --json --outputFile=FILE`) and that of Vitest, which has the same form.
///
/// Source: Jest, `packages/jest-test-result/src/formatTestResults.ts`.
struct JestReading: JSONReading {
    static let format = ResultFormat(rawValue: "jest")

    var collector: ResultCollector
    /// The tests of one file, whose name stands behind them.
    private var tests: [JSONValue] = []
    private var file: String?
    private var message: String?
    private var failed = false
    private var sawResults = false

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("numTotalTests") || start.keys.contains("numFailedTests")
            || start.keys.contains("testResults[].assertionResults")
    }

    func wish(at path: String) -> JSONWish {
        switch path {
        case "", "testResults", "testResults[]", "testResults[].assertionResults", "testResults[].testResults": .enter
        case "testResults[].assertionResults[]", "testResults[].name", "testResults[].message", "testResults[].status",
            // What a results processor is handed, which some write as it is.
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
        default: if tests.count < collector.limits.tests { tests.append(value) }
        }
    }

    mutating func leave(_ path: String) {
        if path == "testResults" { sawResults = true }
        guard path == "testResults[]" else { return }
        defer { (tests, file, message, failed) = ([], nil, nil, false) }
        for test in tests { add(test) }
        // A file that can't be loaded has no tests, and the whole story in its message.
        if tests.isEmpty, failed {
            var result = TestResult(suite: "", name: file ?? "(file)", status: .errored, file: file)
            result.name = file?.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? "(file)"
            var parts = FailureParts(trace: message)
            parts.type = "Test suite failed to run"
            parts.describe(&result)
            collector.add(result, from: TestOrigin(file: file))
        }
    }

    private mutating func add(_ test: JSONValue) {
        let suite = test["ancestorTitles"]?.elements.compactMap(\.text).joined(separator: " ") ?? ""
        var result = TestResult(
            suite: suite.trimmed, name: test["title"]?.text ?? test["fullName"]?.text ?? "(unnamed)",
            status: .passed, duration: Seconds.ofMilliseconds(test["duration"]?.number), file: file,
            line: test["location"]?["line"]?.int)
        let origin = TestOrigin(file: file)
        let messages = test["failureMessages"]?.elements.compactMap(\.text) ?? []
        let retries = test["retryReasons"]?.elements.compactMap(\.text) ?? []
        let tries = retries.prefix(20).map { describe([$0], in: result) }
        switch test["status"]?.text {
        case "passed", "focused": break
        case "failed": result = describe(messages, in: result)
        case "pending", "skipped", "todo", "disabled":
            result.status = .skipped
            if test["status"]?.text == "todo" { result.message = "todo" }
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
        // Those of a file whose end is missing.
        if !tests.isEmpty { leave("testResults[]") }
        if !sawResults {
            collector.say(
                "has no \"testResults\"", key: "none", severity: .error,
                suggestion: "Write it with jest --json --outputFile=FILE.")
        }
    }
}
