import Foundation
import Pipeline
import Testing

@testable import Results
@testable import Engine
import TestSupport

/// Failed tests that run again alone, with real commands.
@Suite(.runFolder) struct TestRetryTests {
    /// Runs tests that fail as often as a file in the workspace says, and writes their results. Without arguments it
    /// runs all of them.
    static let script = """
        [ $# -gt 0 ] || set -- S/steady S/shaky S/broken
        echo "$@" >> ran.txt
        code=0; cases=
        for test in "$@"; do
          name=${test#S/}
          left=$(cat "$name.left" 2>/dev/null || echo 0)
          if [ "$left" -gt 0 ]; then
            echo $((left - 1)) > "$name.left"; code=1
            cases="$cases<testcase classname='S' name='$name'><failure message='no'/></testcase>"
          else cases="$cases<testcase classname='S' name='$name'/>"; fi
        done
        echo "<testsuite>$cases</testsuite>" > results.xml
        exit $code
        """

    private func tries(
        _ left: [String: Int], line: String = "sh tests.sh", quarantine: [Quarantine] = [],
        retry: TestRetry? = TestRetry(filter: .names), knownFlaky: Set<String> = []
    ) async throws -> (outcome: RunOutcome, ran: [String]) {
        let folder = RunFolder.current
        try? FileManager.default.removeItem(atPath: folder.workspace)
        try folder.write(Self.script, to: "tests.sh")
        for (name, count) in left { try folder.write("\(count)", to: "\(name).left") }
        let step = PlannedStep.shell("unit", line) { step in
            step.testResults = [.junit("results.xml")]
            step.testRetry = retry
        }
        let setting = folder.setting(run: "run-\(UInt32.random(in: 0 ... .max))") {
            ($0.quarantine, $0.knownFlaky) = (quarantine, knownFlaky)
        }
        let outcome = await run([step], setting: setting)
        return (outcome, folder.text("ran.txt")?.split(separator: "\n").map(String.init) ?? [])
    }

    @Test func `a test that passes on a retry is flaky`() async throws {
        let (outcome, ran) = try await tries(["shaky": 1])
        #expect(outcome.verdict == .flaky)
        #expect(ran == ["S/steady S/shaky S/broken", "S/shaky"])
        let step = try #require(outcome.steps.first)
        #expect(step.attempts.map(\.status) == [.failed, .passed])
        #expect(step.attempts.last?.retriedTests == 1)
        #expect(step.testCounts == TestCounts(passed: 3))
        #expect(outcome.tests.filter { $0.name == "shaky" }.map(\.attempt) == [1, 2])
    }

    @Test func `a test that fails again has failed`() async throws {
        let (outcome, ran) = try await tries(["shaky": 1, "broken": 9])
        #expect(outcome.verdict == .failed)
        #expect(ran == ["S/steady S/shaky S/broken", "S/shaky S/broken"])
        #expect(outcome.steps.first?.reason == "1 test failed, and again when retried alone: S/broken")
    }

    @Test func `only tests that still fail are tried again`() async throws {
        let (outcome, ran) = try await tries(["shaky": 1, "broken": 2], retry: TestRetry(filter: .names, times: 3))
        #expect(outcome.verdict == .flaky)
        #expect(ran == ["S/steady S/shaky S/broken", "S/shaky S/broken", "S/broken"])
    }

    /// Another failure of a known flaky test shows little; that of any other test shows that it fails.
    @Test func `tests that are known to be flaky get further attempts`() async throws {
        let retry = TestRetry(filter: .names, timesKnown: 3)
        let (known, ran) = try await tries(["shaky": 3], retry: retry, knownFlaky: ["S/shaky"])
        #expect(known.verdict == .flaky)
        #expect(ran == ["S/steady S/shaky S/broken", "S/shaky", "S/shaky", "S/shaky"])
        let (unknown, once) = try await tries(["shaky": 3], retry: retry)
        #expect(unknown.verdict == .failed && once.count == 2)
        let (both, twice) = try await tries(["shaky": 3, "broken": 9], retry: retry, knownFlaky: ["S/shaky"])
        #expect(both.verdict == .failed && twice.count == 2, "one of them is not known to be flaky")
        let (broken, four) = try await tries(["broken": 9], retry: retry, knownFlaky: ["S/broken"])
        #expect(broken.verdict == .failed && four.count == 4, "and what fails in all of them has failed")
    }

    @Test func `too many failures are not retried`() async throws {
        let (outcome, ran) = try await tries(["shaky": 1, "broken": 1], retry: TestRetry(filter: .names, maximum: 1))
        #expect(outcome.verdict == .failed && ran.count == 1)
    }

    /// An attempt that runs nothing and reports success has not run the test.
    @Test func `an attempt that does not run the test proves nothing`() async throws {
        let line =
            "if [ $# -eq 0 ]; then sh tests.sh; fi; echo '<testsuite><testcase name=\"x\"/></testsuite>' > results.xml; : \"$@\""
        let (outcome, ran) = try await tries(["shaky": 1], line: line)
        #expect(ran.count == 1)
        #expect(outcome.verdict == .failed)
        #expect(outcome.steps.first?.reason == "failed, and the retry did not run S/shaky")
    }

    /// Names are arguments for the shell and are never parsed by it.
    @Test func `a test's name is never run as a command`() async throws {
        let folder = RunFolder.current
        let name = "a'; touch owned; $(touch owned) `touch owned` \"b"
        let quoted = name.replacing("\"", with: "&quot;")
        try folder.write(
            "<testsuite><testcase classname='S' name=\"\(quoted)\"><failure/></testcase></testsuite>", to: "made.xml")
        let line = "cp made.xml results.xml; echo \"$#\" >> count.txt; printf '%s\\n' \"$@\" > names.txt; false"
        let step = PlannedStep.shell("unit", line) { step in
            step.testResults = [.junit("results.xml")]
            step.testRetry = TestRetry(filter: .names)
        }
        let outcome = await run([step])
        #expect(outcome.verdict == .failed)
        #expect(folder.text("count.txt") == "0\n1\n")
        #expect(folder.text("names.txt") == "S/\(name)\n")
        #expect(folder.text("owned") == nil)
    }

    @Test func `a quarantined test does not fail the step`() async throws {
        let quarantine = [Quarantine(test: "S/broken", until: "2026-12-31", reason: "being mended")]
        let (outcome, _) = try await tries(["broken": 9], quarantine: quarantine)
        #expect(outcome.verdict == .passed)
        #expect(outcome.findings.contains { $0.rule == "quarantined-failure" && $0.message.contains("being mended") })
        let (both, _) = try await tries(["broken": 9, "shaky": 9], quarantine: quarantine)
        #expect(both.verdict == .failed, "another failure counts")
        let (several, _) = try await tries(
            ["broken": 9], line: "sh tests.sh && true; false", quarantine: quarantine, retry: nil)
        #expect(several.verdict == .failed, "what follows the failure in the line was not run")
    }

    /// The short form of script/flaky-rate: each verdict follows from the failures.
    @Test(.timeLimit(.minutes(2))) func `verdicts of many runs match their probabilities`() async throws {
        var state: UInt64 = 20_261_121
        for _ in 0..<40 {
            var left: [String: Int] = [:]
            for name in ["steady", "shaky", "broken"] {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // Never, once, or always.
                left[name] = [0, 0, 1, 9][Int(state >> 33) % 4]
            }
            let (outcome, _) = try await tries(left)
            let truth: Verdict =
                left.values.contains(9) ? .failed : left.values.contains(1) ? .flaky : .passed
            #expect(outcome.verdict == truth, "\(left)")
        }
    }
}
