import ForeignText
import Results

/// Reads the output of RSpec's `json` formatter: `rspec --format json --out FILE`.
///
/// Source: rspec-core, `lib/rspec/core/formatters/json_formatter.rb`. Suites are named as rspec_junit_formatter names them.
struct RSpecReading: JSONReading {
    static let format = ResultFormat(rawValue: "rspec")

    var collector: ResultCollector
    private var messages: [String] = []

    init(name: String, limits: TestResultLimits) { collector = ResultCollector(name: name, limits: limits) }

    static func recognises(_ start: FileStart) -> Bool {
        start.keys.contains("examples")
            && (start.keys.contains("examples[].full_description") || start.keys.contains("summary_line"))
    }

    func wish(at path: String) -> JSONWish {
        switch path {
        case "", "examples", "messages": .enter
        case "examples[]", "messages[]", "summary": .take
        default: .skip
        }
    }

    mutating func take(_ value: JSONValue, at path: String) {
        switch path {
        case "messages[]": if let text = value.text, messages.count < 20 { messages.append(text) }
        case "summary": outside(value["errors_outside_of_examples_count"]?.int ?? 0)
        default: example(value)
        }
    }

    /// Errors because of which a file could not be loaded.
    private mutating func outside(_ count: Int) {
        guard count > 0 else { return }
        let text = messages.map(\.withoutColours).joined(separator: "\n").trimmed
        let place = SourceLocator(suite: "").locate(in: [text])
        collector.add(
            Finding(
                rule: "test-issue", severity: .error,
                message: "\(count) errors outside of examples: \(text.isEmpty ? "see the step's log" : text)",
                file: place?.file, line: place?.line))
    }

    private mutating func example(_ value: JSONValue) {
        let file = value["file_path"]?.text
        var result = TestResult(
            suite: Self.suite(file ?? ""),
            name: value["full_description"]?.text ?? value["description"]?.text ?? value["id"]?.text ?? "(unnamed)",
            status: .passed, duration: Seconds.bounded(value["run_time"]?.number), file: file,
            line: value["line_number"]?.int)
        switch value["status"]?.text {
        case "passed": break
        case "failed": describe(value["exception"], in: &result)
        case "pending":
            result.status = .skipped
            result.message = value["pending_message"]?.text
        default: result.status = .errored
        }
        collector.add(result, from: TestOrigin(file: file))
    }

    /// `./spec/demo_spec.rb` becomes `spec.demo_spec`.
    private static func suite(_ path: String) -> String {
        var path = path
        if let dot = path.lastIndex(of: "."), path[dot...].firstIndex(of: "/") == nil { path = String(path[..<dot]) }
        let name = path.replacing("/", with: ".")
        return String(name.drop { $0 == "." })
    }

    private func describe(_ exception: JSONValue?, in result: inout TestResult) {
        let type = exception?["class"]?.text
        let isAssertion = type?.hasPrefix("RSpec::Expectations::") == true || type == nil
        result.status = isAssertion ? .failed : .errored
        var parts = FailureParts()
        parts.type = type
        parts.message = exception?["message"]?.text
        parts.trace = exception?["backtrace"]?.elements.compactMap(\.text).joined(separator: "\n")
        parts.describe(&result)
    }
}
