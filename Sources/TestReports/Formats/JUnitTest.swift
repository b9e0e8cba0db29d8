import ForeignText
import Results

/// A test of a JUnit report: what its elements say, and the results that this means.
struct JUnitTest {
    struct Outcome {
        enum Kind { case failure, error, skipped, rerun(TestResult.Status), flaky(TestResult.Status) }
        var kind: Kind
        var message: String?
        var type: String?
        var time: Double?
        var text: BoundedText
        var stackTrace: BoundedText
    }

    /// The results of a test that ended.
    struct Finished {
        var tries: [TestResult]
        var origin: TestOrigin
    }

    var name: String
    var suite: String
    var file: String?
    var line: Int?
    var time: Double?
    var status: String?
    var outcomes: [Outcome] = []
    var output: BoundedText
    var origin: TestOrigin

    /// Whether only a word says that it failed, without an element.
    var failsByStatusAlone: Bool { outcomes.isEmpty && Self.status(status)?.isFailure == true }

    /// The test's tries, in order, each as a result.
    var tries: [TestResult] {
        var base = TestResult(
            suite: suite, name: name, status: .passed, duration: time, file: file, line: line)
        var before: [TestResult] = []
        var after: [TestResult] = []
        var own: [Outcome] = []
        for outcome in outcomes {
            switch outcome.kind {
            case .flaky(let status): before.append(attempt(outcome, status))
            case .rerun(let status): after.append(attempt(outcome, status))
            default: own.append(outcome)
            }
        }
        settle(&base, own)
        return before + [base] + after
    }

    /// One listed try of Surefire or nextest, which give no other facts about it.
    private func attempt(_ outcome: Outcome, _ status: TestResult.Status) -> TestResult {
        var result = TestResult(
            suite: suite, name: name, status: status, duration: outcome.time, file: file,
            line: line)
        describe(&result, [outcome], output: "")
        return result
    }

    private func settle(_ result: inout TestResult, _ outcomes: [Outcome]) {
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
                let missing = status == "notrun" && reason?.hasPrefix("Unable to find executable") == true
                result.status = missing ? .errored : .skipped
                if result.line == nil, let place = locator.locate(in: [text, skip.message]) {
                    (result.file, result.line) = (place.file, place.line)
                }
                return
            }
        }
        guard !failures.isEmpty else {
            settleByStatus(&result)
            return
        }
        let onlyErrors = failures.allSatisfy { if case .error = $0.kind { true } else { false } }
        result.status = onlyErrors ? .errored : .failed
        describe(&result, failures, output: String(cleaning: output.bytes))
    }

    /// Some tools have no child element, only a word.
    private func settleByStatus(_ result: inout TestResult) {
        guard let meant = Self.status(status) else { return }
        result.status = meant
        if result.status.isFailure {
            describe(&result, [], output: String(cleaning: output.bytes))
        } else if status == "disabled" {
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

    private var locator: SourceLocator { SourceLocator(declaredFile: file, suite: suite) }

    private func describe(_ result: inout TestResult, _ outcomes: [Outcome], output: String) {
        var parts: [String] = []
        for (index, outcome) in outcomes.enumerated() {
            let trace = outcome.stackTrace.isEmpty ? outcome.text.string : outcome.stackTrace.string
            let message = FailureText.message(
                attribute: outcome.message, type: outcome.type, text: trace, test: name)
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
        let place = locator.locate(in: texts)
        if let place { (result.file, result.line) = (place.file, place.line) }
        if result.message == nil, !output.isEmpty { result.message = OutputText.message(in: output, at: place) }
    }
}
