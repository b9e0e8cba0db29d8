import ForeignText
import Results

/// Reads the results of NUnit 3, NUnit 4 and Unity's test runner.
///
/// Source: https://docs.nunit.org/articles/nunit/technical-notes/usage/Test-Result-XML-Format.html
struct NUnit3Reading: XMLReading {
    static let format = ResultFormat(rawValue: "nunit3")

    var collector: ResultCollector
    private var suites: [Suite] = []
    private var test: Test?

    private struct Suite {
        var fullName: String
        /// Whether the suite itself failed, and not a test in it.
        var failedAlone: Bool
        var message: String?
        var trace: String?
    }

    private struct Test {
        var result: TestResult
        var parts = FailureParts()
        var reason: String?
        var hasFailure = false
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        // Some tools write the suite of one assembly alone.
        start.root == "test-run" || start.root == "test-suite"
    }

    static func wantsText(of element: String) -> Bool { ["message", "stack-trace", "output"].contains(element) }

    mutating func begin(_ path: [String], _ attributes: XMLAttributes) {
        switch path.last {
        case "test-suite" where test == nil: begin(suite: attributes)
        case "test-case" where test == nil: begin(test: attributes)
        case "failure" where path.dropLast().last == "test-case": test?.hasFailure = true
        default: break
        }
    }

    private mutating func begin(suite attributes: XMLAttributes) {
        let failed = attributes["result"]?.hasPrefix("Fail") == true
        let site = attributes["site"]
        let isOwn = site == "SetUp" || site == "TearDown" || site == nil && attributes["label"] == "Invalid"
        suites.append(
            Suite(fullName: attributes["fullname"] ?? attributes["name"] ?? "", failedAlone: failed && isOwn))
    }

    private mutating func begin(test attributes: XMLAttributes) {
        let name = attributes["name"]?.trimmed ?? ""
        let full = attributes["fullname"]?.trimmed ?? ""
        var suite = attributes["classname"]?.trimmed ?? suites.last?.fullName ?? ""
        if !name.isEmpty, full.hasSuffix("." + name) { suite = String(full.dropLast(name.count + 1)) }
        let seconds = attributes["duration"] ?? attributes["time"]
        test = Test(
            result: TestResult(
                suite: suite, name: name.isEmpty ? full : name,
                status: Self.status(attributes["result"], attributes["label"]),
                duration: seconds.flatMap(Seconds.read)))
    }

    private static func status(_ result: String?, _ label: String?) -> TestResult.Status {
        switch result {
        case "Passed", "Warning": .passed
        case "Failed": label == nil ? .failed : .errored
        case "Skipped", "Inconclusive": .skipped
        default: .errored
        }
    }

    mutating func end(_ path: [String], text: String) {
        let parent = path.dropLast().last
        switch path.last {
        case "test-case": endTest()
        case "test-suite" where test == nil: endSuite()
        case "message" where parent == "assertion" && test?.hasFailure == true: break
        case "message" where parent == "reason" && test != nil: test?.reason = text
        case "message" where test != nil: test?.parts.message = text
        case "stack-trace" where parent == "failure" || test?.parts.trace == nil:
            if test != nil { test?.parts.trace = text } else { keep(trace: text) }
        case "output" where parent == "test-case": test?.parts.output = text
        case "message": keep(message: text)
        default: break
        }
    }

    private mutating func keep(message: String) {
        if !suites.isEmpty { suites[suites.count - 1].message = message }
    }

    private mutating func keep(trace: String) {
        if !suites.isEmpty { suites[suites.count - 1].trace = trace }
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

    private mutating func endSuite() {
        guard let suite = suites.popLast(), suite.failedAlone else { return }
        // If the set-up of a fixture failed, its tests are listed as failed; tests before a failed clean-up are listed
        // as passed.
        let place = SourceLocator(suite: suite.fullName).locate(in: [suite.trace])
        collector.add(
            Finding(
                rule: "test-issue", severity: .error,
                message: "Outside of any test, in \(suite.fullName): \(suite.message ?? "failed")",
                file: place?.file, line: place?.line))
    }

    mutating func finish() { endTest() }
}
