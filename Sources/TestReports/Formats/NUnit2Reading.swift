import ForeignText
import Results

/// Reads NUnit 2's results, which NUnit 3 (`--result=FILE;format=nunit2`) and MSTest converters write, too.
///
/// Source: https://docs.nunit.org/2.6/nunit-console.html and the `Results.xsd` of NUnit 2.6.
struct NUnit2Reading: XMLReading {
    static let format = ResultFormat(rawValue: "nunit2")

    var collector: ResultCollector
    private var suites: [String] = []
    private var test: (result: TestResult, parts: FailureParts, reason: String?)?

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool { start.root == "test-results" }

    static func wantsText(of element: String) -> Bool { ["message", "stack-trace"].contains(element) }

    mutating func begin(_ path: [String], _ attributes: XMLAttributes) {
        switch path.last {
        case "test-suite": suites.append(attributes["name"] ?? "")
        case "test-case" where test == nil:
            let full = attributes["name"]?.trimmed ?? ""
            var (suite, name) = TRXReading.split(full)
            if suite.isEmpty { suite = suites.last ?? "" }
            if name.isEmpty { name = "(unnamed)" }
            let result = TestResult(
                suite: suite, name: name, status: Self.status(attributes),
                duration: attributes["time"].flatMap(Seconds.read))
            test = (result, FailureParts(), nil)
        case "failure": if test?.result.status == .passed { test?.result.status = .failed }
        default: break
        }
    }

    private static func status(_ attributes: XMLAttributes) -> TestResult.Status {
        switch attributes["result"]?.lowercased() {
        case "success", "passed": return .passed
        case "failure", "failed": return .failed
        case "error", "cancelled", "notrunnable", "invalid": return .errored
        case "ignored", "skipped", "inconclusive", "notrun": return .skipped
        default: break
        }
        // Before 2.5 there is no attribute `result`.
        if attributes["executed"]?.lowercased() == "false" { return .skipped }
        switch attributes["success"]?.lowercased() {
        case "true": return .passed
        case "false": return .failed
        // If both are missing, the test passed unless a failure follows.
        case nil: return .passed
        default: return .errored
        }
    }

    mutating func end(_ path: [String], text: String) {
        switch path.last {
        case "test-suite": suites.removeLast()
        case "test-case": endTest()
        case "message": if path.dropLast().last == "reason" { test?.reason = text } else { test?.parts.message = text }
        case "stack-trace": test?.parts.trace = text
        default: break
        }
    }

    private mutating func endTest() {
        guard let ended = test else { return }
        test = nil
        var result = ended.result
        switch result.status {
        case .failed, .errored:
            ended.parts.describe(&result)
            result.message = result.message ?? ended.reason
        case .skipped: result.message = ended.reason ?? ended.parts.message
        case .passed, .expectedFailure: break
        }
        collector.add(result)
    }

    mutating func finish() { endTest() }
}
