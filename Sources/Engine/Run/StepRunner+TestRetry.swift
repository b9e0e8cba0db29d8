import Concurrency
import Results
import Pipeline

/// Retries failed tests alone, and excuses failures of tests in quarantine.
extension StepRunner {
    /// The step with a command that runs only the failed tests; nil if the step does not ask for that or if a pass
    /// would prove nothing.
    ///
    /// - Parameter first: The number of the attempt in which all tests were run.
    func narrowed(
        _ step: PlannedStep, after attempt: Attempt, knowing tests: [TestResult], since first: Int, _ stop: StopSignal
    ) -> PlannedStep? {
        guard let retry = step.testRetry, stop.request == nil,
            // A crash, a time-out or a limit says nothing about the tests that never ran.
            attempt.record.status == .failed, let code = attempt.record.exitCode, code != 0, code < 126,
            attempt.record.hitLimit != true
        else { return nil }
        let failed = TestResults.lastFailures(among: tests)
        guard !failed.isEmpty, failed.count <= retry.maximum, !attempt.tests.isEmpty else { return nil }
        // Another failure of tests that are known to be flaky says little.
        let isKnown = failed.allSatisfy { setting.knownFlaky.contains($0.id) }
        let times = isKnown ? max(retry.times, retry.timesKnown ?? 0) : retry.times
        guard attempt.record.number < first + times else { return nil }
        let arguments = retry.filter.arguments(
            for: failed.map { KnownTest(suite: $0.suite, name: $0.name, file: $0.file) })
        // Without arguments, tools run all tests.
        guard !arguments.isEmpty else { return nil }
        return step.adding(arguments)
    }

    /// An attempt that ran some tests only has passed if each of them ran and passed.
    func judge(_ attempt: inout Attempt, triedAgain failed: [TestResult]) {
        guard attempt.record.status == .passed || attempt.record.status == .failed else { return }
        let results = Dictionary(grouping: attempt.tests, by: \.id)
        func names(_ tests: [TestResult]) -> String {
            let shown = tests.prefix(3).map(\.id).joined(separator: ", ")
            return tests.count > 3 ? "\(shown) and \(tests.count - 3) more" : shown
        }
        let again = failed.filter { test in results[test.id]?.last?.status.isFailure == true }
        let missing = failed.filter { test in
            guard let status = results[test.id]?.last?.status else { return true }
            return status == .skipped
        }
        if !again.isEmpty {
            attempt.record.status = .failed
            attempt.record.reason =
                "\(again.count) test\(again.count == 1 ? "" : "s") failed, and again when retried alone: \(names(again))"
        } else if !missing.isEmpty {
            attempt.record.status = .failed
            attempt.record.reason = "failed, and the retry did not run \(names(missing))"
        }
    }

    /// An attempt that was asked for certain tests has passed only if they ran. If it failed, the reason lists the
    /// names that match no test.
    func demand(_ attempt: inout Attempt, of step: PlannedStep) {
        guard let wanted = setting.onlyTests[step.name] else { return }
        let hasPassed = attempt.record.status == .passed
        guard hasPassed || attempt.record.status == .failed && attempt.record.hitLimit != true else { return }
        guard !step.testResults.isEmpty else {
            guard hasPassed else { return }
            attempt.findings.append(
                Finding(
                    rule: "tests-not-seen", severity: .warning,
                    message:
                        "step \"\(step.name)\" declares no .testResults(…): pipectl can't tell whether the tests ran",
                    step: step.name))
            return
        }
        let ran = attempt.tests.filter { $0.status != .skipped }
        let ids = Set(ran.map(\.id))
        // A parametrised test has a result for each of its cases.
        let bare = Set(ran.map { $0.suite + "/" + $0.name.prefix { $0 != "(" } })
        let missing = wanted.filter { test in
            if test.isLoose {
                // The name is a part that somebody typed; the tool matched its last component.
                let end = test.name.split { "/:".contains($0) }.last.map(String.init) ?? test.name
                return !ids.contains { $0.contains(end.replacing(".py", with: "")) }
            }
            return !ids.contains(test.id) && !bare.contains(test.suite + "/" + test.name.prefix { $0 != "(" })
        }
        guard !missing.isEmpty || ran.isEmpty else { return }
        let absent = missing.isEmpty ? wanted : missing
        // If a failed attempt did not reach a known test, that says nothing about its name.
        guard hasPassed || absent.allSatisfy(\.isLoose) else { return }
        attempt.record.status = .failed
        let names = absent.prefix(3).map(\.id).joined(separator: ", ") + (missing.count > 3 ? " …" : "")
        // A partial name is reported as unknown only if no earlier run had a matching test.
        let unknown = absent.allSatisfy(\.isLoose) ? ": no earlier run has a test of that name" : ""
        let end = hasPassed ? "it exited with 0 but" : (attempt.record.reason ?? "it failed") + "; it"
        attempt.record.reason = "\(end) did not run \(names)\(unknown)"
    }

    /// Lets an attempt pass if all its failures are in quarantine, and adds a note about them.
    func excuse(_ attempt: inout Attempt, of step: PlannedStep, knowing tests: [TestResult]) {
        guard !setting.quarantine.isEmpty, attempt.record.status == .failed, let code = attempt.record.exitCode,
            code != 0, code < 126, attempt.record.hitLimit != true
        else { return }
        let failed = TestResults.lastFailures(among: tests)
        let covering = failed.map { test in setting.quarantine.first { $0.covers(test.id) } }
        guard !failed.isEmpty, covering.allSatisfy({ $0 != nil }) else { return }
        guard step.isOneCommand else {
            attempt.findings.append(
                Finding(
                    rule: "quarantine", severity: .warning,
                    message:
                        "step \"\(step.name)\" failed only because of tests in quarantine, but runs several commands: those "
                        + "after the failure did not run",
                    suggestion: "move the tests to a step of their own, with one command"))
            return
        }
        attempt.record.status = .passed
        attempt.record.reason = nil
        attempt.record.quarantinedTests = failed.count
        for (test, quarantine) in zip(failed, covering) {
            guard let quarantine else { continue }
            attempt.findings.append(
                Finding(
                    rule: "quarantined-failure", severity: .warning,
                    message: "\(test.id) failed; it is in quarantine until \(quarantine.until): \(quarantine.reason)",
                    file: test.file, line: test.line))
        }
    }
}
