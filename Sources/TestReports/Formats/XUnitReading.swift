import ForeignText
import Results

/// Reads xUnit.net's own results, versions 1 to 3.
///
/// Source: https://xunit.net/docs/format-xml-v2. Version 1 has classes where version 2 has collections.
struct XUnitReading: XMLReading {
    static let format = ResultFormat(rawValue: "xunit")

    var collector: ResultCollector
    private var className = ""
    private var test: Test?
    private var error: (name: String, parts: FailureParts)?

    private struct Test {
        var result: TestResult
        var parts = FailureParts()
        var reason: String?
    }

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool { start.root == "assemblies" || start.root == "assembly" }

    static func wantsText(of element: String) -> Bool {
        ["message", "stack-trace", "output", "reason"].contains(element)
    }

    mutating func begin(_ path: [String], _ attributes: XMLAttributes) {
        switch path.last {
        case "class": className = attributes["name"] ?? ""
        case "test" where test == nil: begin(test: attributes)
        case "error" where test == nil:
            let kind = [attributes["type"], attributes["name"]].compactMap(\.self).joined(separator: " ")
            error = (kind, FailureParts())
        case "failure":
            test?.parts.type = attributes["exception-type"]
            error?.parts.type = attributes["exception-type"]
        default: break
        }
    }

    private mutating func begin(test attributes: XMLAttributes) {
        let full = attributes["name"]?.trimmed ?? ""
        let suite = attributes["type"]?.trimmed ?? (className.isEmpty ? TRXReading.split(full).suite : className)
        let status: TestResult.Status =
            switch attributes["result"]?.lowercased() {
            case "pass": .passed
            case "fail": .failed
            case "skip", "notrun": .skipped
            default: .errored
            }
        var name = full
        if !suite.isEmpty, full.hasPrefix(suite + "."), full.count > suite.count + 1 {
            name = String(full.dropFirst(suite.count + 1))
        }
        if name.isEmpty { name = attributes["method"] ?? "(unnamed)" }
        test = Test(
            result: TestResult(
                suite: suite, name: name, status: status, duration: attributes["time"].flatMap(Seconds.read),
                file: attributes["source-file"].flatMap { $0.isEmpty ? nil : $0 },
                line: attributes["source-line"].flatMap { Int($0) }))
    }

    mutating func end(_ path: [String], text: String) {
        switch path.last {
        case "message" where path.dropLast().last == "reason": test?.reason = text
        case "reason": if !text.isEmpty { test?.reason = text }
        case "message":
            test?.parts.message = text
            error?.parts.message = text
        case "stack-trace":
            test?.parts.trace = text
            error?.parts.trace = text
        case "output": test?.parts.output = text
        case "test": endTest()
        case "error": endError()
        default: break
        }
    }

    private mutating func endTest() {
        guard let ended = test else { return }
        test = nil
        var result = ended.result
        switch result.status {
        case .failed, .errored: ended.parts.describe(&result)
        case .skipped: result.message = ended.reason
        case .passed, .expectedFailure: break
        }
        collector.add(result)
    }

    /// A fixture or an assembly whose clean-up failed.
    private mutating func endError() {
        guard let (name, parts) = error else { return }
        error = nil
        let place = SourceLocator(suite: "").locate(in: [parts.trace])
        collector.add(
            Finding(
                rule: "test-issue", severity: .error,
                message: "Outside of any test, in \(name): \(parts.message ?? parts.type ?? "failed")",
                file: place?.file, line: place?.line))
    }

    mutating func finish() { endTest() }
}
