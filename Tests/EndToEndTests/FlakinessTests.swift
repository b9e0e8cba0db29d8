import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Tests that fail by chance: in quarantine, found in idle time, and tests that became slow.
struct FlakinessTests {
    /// Each test fails as often as its file in the meeting folder says, and reports the time in `NAME.seconds`.
    private static let script = """
        [ $# -gt 0 ] || set -- S/one S/two
        echo "ran $*"; code=0; cases=
        for test in "$@"; do
          name=${test#S/}; say=; seconds=$(cat "$name.seconds" 2>/dev/null || echo 0.01)
          left=$(cat "MEET/$name" 2>/dev/null || echo 0)
          if [ "$left" -gt 0 ]; then
            echo $((left - 1)) > "MEET/$name"; code=1; say="<failure message='no'/>"
          fi
          cases="$cases<testcase classname='S' name='$name' time='$seconds'>$say</testcase>"
        done
        if [ -e MEET/hold ] && [ $# = 1 ]; then echo up > MEET/hold; cat MEET/go; fi
        echo "<testsuite>$cases</testsuite>" > r.xml; exit $code

        """

    private static func files(
        _ bench: Bench, _ modifiers: String = "", step: String = ".testFilter(.names)"
    ) -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .push(to: "main")) {
                Step("unit", run: "sh tests.sh").testResults(.junit("r.xml"))\(step).neverProved()
            }\(modifiers)
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """, "tests.sh": script.replacing("MEET", with: bench.meet),
        ]
    }

    /// Sets how often a test fails from now on.
    private func set(_ test: String, _ count: Int, _ bench: Bench) throws {
        let path = "\(bench.meet)/\(test)"
        try Data("\(count)\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    }

    private func day(_ days: Int) -> String {
        Date(timeIntervalSinceNow: Double(days) * 86_400).formatted(.iso8601.year().month().day())
    }

    @Test(.timeLimit(.minutes(6)))
    func `a quarantine lasts until its date and appears in the report`() async throws {
        try await Bench.with { bench in
            func quarantine(_ days: Int) -> [String: String] {
                Self.files(
                    bench, ".quarantine(\"S/two\", until: \"\(day(days))\", because: \"a clock is being mended\")")
            }
            try await bench.commit(quarantine(5), "In quarantine")
            try set("two", 1_000, bench)
            try await bench.change(1, ["a.txt": "a\n"])
            let held = try await bench.pipectl("run", "test", "--change", "1")
            #expect(held.code == 0, "\(held.output)\(held.errors)")
            #expect(held.output.contains("1 failure in quarantine"), "\(held.output)")
            let first = try await bench.report(1)
            #expect(first.verdict == .passed && first.testCounts.failed == 1)
            let finding = try #require(first.findings.first { $0.rule == "quarantined-failure" })
            #expect(finding.message.contains("a clock is being mended") && finding.message.contains(day(5)))
            let bundle = try await bench.pipectl("report", "1", "--bundle").output
            #expect(bundle.contains("1 failure in quarantine") && bundle.contains("S/two failed"), "\(bundle)")

            // Tests that are not in quarantine still count.
            try set("one", 1, bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)

            try await bench.commit(quarantine(-1), "It has run out")
            let expired = try await bench.pipectl("run", "test", "--change", "1")
            #expect(expired.code == 1)
            let last = try await bench.report(3)
            #expect(last.findings.contains { $0.rule == "quarantine-expired" && $0.message.contains("count again") })
            #expect(!last.reason.contains("quarantine"))
        }
    }

    /// A test that passes on its second attempt is flaky. Once known as flaky, it gets two further attempts.
    @Test(.timeLimit(.minutes(6)))
    func `a test that is known to be flaky gets further attempts`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench, step: ".retryFailedTests(.names)"), "Tests")
            try await bench.change(1, ["a.txt": "a\n"])
            try set("two", 1, bench)
            let first = try await bench.pipectl("run", "test", "--change", "1")
            #expect(first.code == 6, "\(first.output)")
            #expect(first.output.contains("See its earlier results: pipectl history S/two"), "\(first.output)")
            #expect(try await bench.pipectl("history", "S/two").code == 0)
            try set("two", 3, bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 6)
            #expect(try await bench.report(2).steps.first?.attempts.map(\.retriedTests) == [nil, 1, 1, 1])
            try set("two", 4, bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1, "in all of them it has failed")
            try set("one", 3, bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            #expect(try await bench.report(4).steps.first?.attempts.count == 2, "nobody knows it to be flaky")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `failed tests of the branch are run again in idle time`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench), "Tests")
            try await bench.withDaemon("--refresh", "--base-limit", "0") { daemon in
                try await daemon.event(.baseline)
                // It fails once by chance and passes when it is run again.
                try set("two", 1, bench)
                try await bench.commit(["a.txt": "a\n"], "By chance")
                #expect(try await bench.pipectl("wait", "main").code == 1)
                try await daemon.event(.runQueued, run: 2)
                #expect(try await bench.pipectl("wait", "2").code == 0)
                #expect(try await bench.pipectl("logs", "2", "unit").output == "ran S/two\n", "and nothing else")
                let history = try await bench.pipectl("history", "S/two").output
                #expect(history.contains("retried in idle time on trees where it had failed: 1 of 1 passed"))
                #expect(history.contains("main, retry"), "\(history)")
                #expect(try await bench.pipectl("flaky").output.contains("S/two"))
                #expect(!(try await bench.pipectl("flaky").output.contains("S/one")))
                // A flake probe is no verdict of the commit.
                #expect(try await bench.pipectl("wait", "main").code == 1)

                // A broken test is run again three times and no more.
                try set("one", 1_000, bench)
                try await bench.commit(["a.txt": "b\n"], "Broken")
                #expect(try await bench.pipectl("wait", "main").code == 1)
                try await daemon.event(.runQueued, run: 6)
                for id in 4...6 { #expect(try await bench.pipectl("wait", "\(id)").code == 1) }
                try set("one", 0, bench)
                try await bench.change(1, ["b.txt": "b\n"])
                #expect(try await bench.pipectl("wait", "#1").code == 0)
                #expect(try await bench.runs().count == 7, "three times are enough")
                #expect(!(try await bench.pipectl("flaky").output.contains("S/one")))
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a flake probe gives way to a requested run`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench), "Tests")
            for name in ["hold", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--refresh", "--base-limit", "0") { daemon in
                try await daemon.event(.baseline)
                try set("two", 1, bench)
                try await bench.commit(["a.txt": "a\n"], "By chance")
                #expect(try await bench.pipectl("wait", "main").code == 1)
                // The probe is in the middle of the test and would never end by itself.
                try await bench.arrival(at: "hold")
                try await bench.change(1, ["b.txt": "b\n"])
                #expect(try await bench.pipectl("wait", "#1").code == 0)
                let overtaken = try await bench.pipectl("wait", "2")
                #expect(overtaken.code == 4, "\(overtaken.output)")
                #expect(overtaken.output.contains("which has priority"), "\(overtaken.output)")
                try await daemon.event(.runQueued, run: 4)
                try await bench.arrival(at: "hold")
                try await bench.release("go")
                #expect(try await bench.pipectl("wait", "4").code == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a test that became slow is named, and one with varying times is not`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench), "Tests")
            for run in 0..<6 {
                // `two` takes a different time in each run.
                try await bench.commit(
                    ["one.seconds": "0.05\n", "two.seconds": "\([0.02, 0.5, 0.05, 0.4, 0.02, 0.3][run])\n"],
                    "Run \(run)")
                #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 0)
            }
            try await bench.change(1, ["one.seconds": "1.6\n", "two.seconds": "0.45\n"])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 0)
            let comparison = try #require(try await bench.report(7).comparison)
            let slower = try #require(comparison.slower)
            #expect(slower.map(\.test) == ["S/one"], "\(slower)")
            #expect((slower.first?.seconds ?? 0) == 1.6 && slower.first?.samples == 6)
            let said = try await bench.pipectl("compare", "7")
            #expect(said.output.contains("1 slower") && said.output.contains("S/one"), "\(said.output)")
            let bundle = try await bench.pipectl("report", "7", "--bundle").output
            #expect(bundle.contains("1 slower") && !bundle.contains("\n## 1."), "\(bundle)")
            let slowest = try await bench.pipectl("slowest").output
            #expect(slowest.contains("S/one") && slowest.contains("S/two"))
        }
    }
}
