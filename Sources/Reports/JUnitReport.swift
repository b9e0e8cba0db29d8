import Results
import TerminalText

/// The tests as JUnit XML, for tools that read nothing else: one `<testsuite>` for each suite, and one for the steps,
/// so that a step that failed without a failed test is visible, too.
struct JUnitReport {
    let document: ReportDocument
    private let facts: ReportFacts

    init(document: ReportDocument) {
        self.document = document
        facts = ReportFacts(document)
    }

    private struct Case {
        var xml: String
        var status: TestResult.Status
        var seconds: Double
    }

    func render() -> String {
        let report = document.report
        var suites: [(name: String, cases: [Case])] = []
        var places: [String: Int] = [:]
        for test in facts.tests {
            let name = test.result.suite
            let place = places[name] ?? suites.count
            if place == suites.count {
                places[name] = place
                suites.append((name, []))
            }
            suites[place].cases.append(testCase(test))
        }
        suites.append(("pipectl steps of \(report.workflow)", report.steps.map(stepCase)))
        let all = suites.flatMap(\.cases)
        let name = "\(report.workflow) run \(report.id)"
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        xml += "<testsuites \(attribute("name", name))\(figures(of: all))>\n"
        for suite in suites where !suite.cases.isEmpty {
            let start = (report.startedAt ?? report.createdAt).iso8601.dropLast(5)
            xml += "  <testsuite \(attribute("name", suite.name))\(figures(of: suite.cases)) timestamp=\"\(start)\">\n"
            for testCase in suite.cases { xml += testCase.xml }
            xml += "  </testsuite>\n"
        }
        return xml + "</testsuites>\n"
    }

    private func figures(of cases: [Case]) -> String {
        let failures = cases.count { $0.status == .failed }
        let errors = cases.count { $0.status == .errored }
        let skipped = cases.count { $0.status == .skipped || $0.status == .expectedFailure }
        let time = seconds(cases.map(\.seconds).reduce(0, +))
        return " tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\" skipped=\"\(skipped)\""
            + " time=\"\(time)\""
    }

    private func testCase(_ test: ReportFacts.Test) -> Case {
        let result = test.result
        var xml = "    <testcase \(attribute("classname", result.suite)) \(attribute("name", result.name))"
        if let duration = result.duration { xml += " time=\"\(seconds(duration))\"" }
        if let file = result.file { xml += " \(attribute("file", file))" }
        if let line = result.line { xml += " line=\"\(line)\"" }
        let message = result.message ?? ""
        let details = text(result.details ?? result.message ?? "")
        switch result.status {
        case .passed:
            if let earlier = test.earlierFailure {
                // Surefire writes this for a test that failed and then passed.
                xml += ">\n      <flakyFailure \(attribute("message", earlier)) type=\"failure\"/>\n    </testcase>\n"
            } else {
                xml += "/>\n"
            }
        case .failed:
            xml += ">\n      <failure \(attribute("message", message)) type=\"failure\">\(details)</failure>"
            xml += "\n    </testcase>\n"
        case .errored:
            xml += ">\n      <error \(attribute("message", message)) type=\"error\">\(details)</error>"
            xml += "\n    </testcase>\n"
        case .skipped: xml += ">\n      <skipped \(attribute("message", message))/>\n    </testcase>\n"
        case .expectedFailure:
            // JUnit has no element for it. As a failure it would make a passed run look failed.
            xml += ">\n      <skipped \(attribute("message", "expected failure: " + message))/>\n    </testcase>\n"
        }
        return Case(xml: xml, status: result.status, seconds: finite(result.duration))
    }

    private func stepCase(_ step: StepRecord) -> Case {
        var xml = "    <testcase classname=\"pipectl.steps\" \(attribute("name", step.name))"
        if let duration = step.duration { xml += " time=\"\(seconds(duration))\"" }
        let reason = step.reason ?? Wording.title(step.status)
        let status: TestResult.Status
        switch step.status {
        case .passed:
            if let proof = Wording.proof(step) {
                xml += ">\n      <system-out>\(text(proof))</system-out>\n    </testcase>\n"
            } else {
                xml += "/>\n"
            }
            status = .passed
        case .failed where !step.allowsFailure, .timedOut where !step.allowsFailure:
            xml += ">\n      <failure \(attribute("message", reason)) type=\"\(step.status.rawValue)\"/>"
            xml += "\n    </testcase>\n"
            status = .failed
        case .infrastructure where !step.allowsFailure:
            xml += ">\n      <error \(attribute("message", reason)) type=\"infrastructure\"/>\n    </testcase>\n"
            status = .errored
        default:
            xml += ">\n      <skipped \(attribute("message", reason))/>\n    </testcase>\n"
            status = .skipped
        }
        return Case(xml: xml, status: status, seconds: finite(step.duration))
    }

    private func finite(_ value: Double?) -> Double { value.map { $0.isFinite ? max($0, 0) : 0 } ?? 0 }

    /// Seconds with milliseconds, never with an exponent.
    private func seconds(_ value: Double) -> String {
        let milliseconds = Int((min(finite(value), 1e12) * 1000).rounded())
        return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }

    private func attribute(_ name: StaticString, _ value: String) -> String {
        "\(name)=\"\(text(value, isAttribute: true))\""
    }

    /// Text as XML 1.0 allows it (section 2.2). Escape sequences and control characters were removed before.
    private func text(_ value: String, isAttribute: Bool = false) -> String {
        var output = ""
        for scalar in TerminalText.clean(value.utf8, colours: false).unicodeScalars {
            switch scalar {
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "&": output += "&amp;"
            case "\"": output += "&quot;"
            case "\n" where isAttribute: output += "&#10;"
            case "\t" where isAttribute: output += "&#9;"
            case "\u{FFFE}", "\u{FFFF}": output += "\u{FFFD}"
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }
}
