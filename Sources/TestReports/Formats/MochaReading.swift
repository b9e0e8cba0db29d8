import ForeignText
import Results

/// Reads the output of Mocha's `json` reporter: `mocha --reporter json --reporter-option output=FILE`.
///
/// Source: Mocha, `lib/reporters/json.js`. The list `tests` has no results and lacks failed hooks, so the lists by
/// result are read.
struct MochaReading: JSONReading {
    static let format = ResultFormat(rawValue: "mocha")

    var collector: ResultCollector
    private var sawList = false

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("stats.passes") && start.keys.contains("stats.pending") && !start.keys.contains("results")
    }

    func wish(at path: String) -> JSONWish {
        switch path {
        case "", "passes", "failures", "pending": .enter
        case "passes[]", "failures[]", "pending[]": .take
        default: .skip
        }
    }

    mutating func leave(_ path: String) { sawList = sawList || path == "passes" || path == "failures" }

    mutating func take(_ value: JSONValue, at path: String) {
        sawList = true
        let title = value["title"]?.text ?? "(unnamed)"
        let full = value["fullTitle"]?.text ?? title
        let suite = full.hasSuffix(" " + title) ? String(full.dropLast(title.count + 1)) : ""
        let file = value["file"]?.text
        var result = TestResult(
            suite: suite.trimmed, name: title, status: .passed,
            duration: Seconds.ofMilliseconds(value["duration"]?.number), file: file)
        switch path {
        case "failures[]": result = describe(value, in: result)
        case "pending[]": result.status = .skipped
        default: break
        }
        // Of earlier tries, the report has only their number.
        let retries = max(0, min(value["currentRetry"]?.int ?? 0, 20))
        let earlier = (0..<retries).map { number in
            var result = result
            (result.status, result.duration, result.line, result.details) = (.failed, nil, nil, nil)
            result.message = "attempt \(number + 1) failed; Mocha reports no message for it"
            return result
        }
        collector.add(tries: earlier + [result], from: TestOrigin(file: file))
    }

    private func describe(_ value: JSONValue, in result: TestResult) -> TestResult {
        var result = result
        let error = value["err"]
        result.status = .failed
        var parts = FailureParts()
        parts.message = error?["message"]?.text
        parts.trace = error?["stack"]?.text
        let (actual, expected) = (error?["actual"]?.shown, error?["expected"]?.shown)
        if let actual, let expected, let message = parts.message,
            message.byteRange(of: String(expected.prefix(40))) == nil || expected.isEmpty
        {
            parts.message = message + "\nexpected: \(expected)\nactual: \(actual)"
        }
        parts.describe(&result)
        return result
    }

    mutating func finish() {
        if !sawList {
            collector.say(
                "has no lists of \"passes\" and \"failures\"", key: "none", severity: .error,
                suggestion: "Write it with mocha --reporter json --reporter-option output=FILE.")
        }
    }
}
