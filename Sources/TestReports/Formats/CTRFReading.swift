import ForeignText
import Results

/// Reads CTRF, the Common Test Report Format.
///
/// Source: https://ctrf.io/docs/specification. Times are milliseconds.
struct CTRFReading: JSONReading {
    static let format = ResultFormat(rawValue: "ctrf")

    var collector: ResultCollector
    private var sawTests = false

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("results.tool")
            && (start.keys.contains("results.summary") || start.keys.contains("results.tests"))
            || start.keys.contains("reportFormat") && start.keys.contains("results")
    }

    func wish(at path: String) -> JSONWish {
        switch path {
        case "", "results", "results.tests": .enter
        case "results.tests[]": .take
        default: .skip
        }
    }

    mutating func leave(_ path: String) { sawTests = sawTests || path == "results.tests" }

    mutating func take(_ value: JSONValue, at path: String) {
        sawTests = true
        let file = value["filePath"]?.text
        var result = TestResult(
            suite: Self.suite(value["suite"]), name: value["name"]?.text ?? "(unnamed)", status: .passed,
            duration: Seconds.ofMilliseconds(value["duration"]?.number), file: file, line: value["line"]?.int)
        set(&result, value)
        let attempts = value["retryAttempts"]?.elements.prefix(20) ?? []
        var tries = attempts.map { attempt in
            var result = result
            (result.message, result.details, result.duration) = (
                nil, nil, Seconds.ofMilliseconds(attempt["duration"]?.number)
            )
            set(&result, attempt)
            return result
        }
        // The last try may be listed among the retries; it is the test's own result.
        if let last = attempts.last?["attempt"]?.int, let retries = value["retries"]?.int, last > retries {
            tries.removeLast()
        }
        if tries.isEmpty, value["flaky"]?.isTrue == true, result.status == .passed {
            var earlier = result
            (earlier.status, earlier.duration) = (.failed, nil)
            earlier.message = "an earlier attempt failed; the report has no message for it"
            tries = [earlier]
        }
        collector.add(tries: tries + [result], from: TestOrigin(file: file))
    }

    /// The suite, outermost first. Older reports have it as one text.
    private static func suite(_ value: JSONValue?) -> String {
        if let text = value?.text { return text }
        return value?.elements.compactMap(\.text).joined(separator: " > ") ?? ""
    }

    private func set(_ result: inout TestResult, _ value: JSONValue) {
        switch value["status"]?.text {
        case "passed": result.status = .passed
        case "failed":
            result.status = .failed
            var parts = FailureParts()
            parts.message = value["message"]?.text
            parts.trace = value["trace"]?.text
            let output = (value["stdout"]?.elements ?? []) + (value["stderr"]?.elements ?? [])
            parts.output = output.compactMap(\.text).joined(separator: "\n")
            parts.describe(&result)
        case "skipped", "pending":
            result.status = .skipped
            result.message = value["message"]?.text
        default:
            // "other" means that the tool could not classify the result. The message says so; nothing else is
            // concluded.
            result.status = .skipped
            result.message = value["message"]?.text ?? value["rawStatus"]?.text ?? "neither passed, failed nor skipped"
        }
    }

    mutating func finish() {
        if !sawTests {
            collector.say(
                "has no \"results.tests\"", key: "none", severity: .error,
                suggestion: "Check the reporter that wrote it; the specification is at https://ctrf.io.")
        }
    }
}
