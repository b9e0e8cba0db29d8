import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Commands that people use: run, rerun, logs, report.
struct RunTests {
    @Test(.timeLimit(.minutes(6)))
    func `run tests the working tree with its uncommitted files`() async throws {
        try await Bench.with { bench in
            try bench.write(["check.sh": "echo changed; cat new.txt\n", "new.txt": "untracked\n"])
            let before = try await bench.git(["status", "--porcelain"])
            let run = try await bench.pipectl("run", "test")
            #expect(run.code == 0, "\(run.errors)")
            #expect(try await bench.pipectl("logs", "1", "check").output == "changed\nuntracked\n")
            #expect(try await bench.git(["status", "--porcelain"]) == before, "the working tree is as it was")

            try bench.write(["check.sh": "exit 3\n"])
            #expect(try await bench.pipectl("run", "test").code == 1)
            #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 0, "main is not what is worked on")
            let step = try await bench.pipectl("run", "test", "--step", "lint")
            #expect(step.code == 0)
            #expect(try await bench.run(4).stepCounts.passed == 1)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change is run by hand and only its failed steps are repeated`() async throws {
        let steps = """
            Step("steady", run: "echo steady")
                Step("flaky", run: "test -e ROOT/mended")
            """
        try await Bench.with { bench in
            try await bench.commit(Workflows.test(steps.replacing("ROOT", with: bench.meet)), "Two steps")
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            _ = FileManager.default.createFile(atPath: "\(bench.meet)/mended", contents: nil)
            let again = try await bench.pipectl("rerun", "1", "--failed")
            #expect(again.code == 0, "\(again.errors)")
            let run = try await bench.run(2)
            #expect(run.rerunOf == 1)
            #expect(run.stepCounts.passed == 2)
            #expect(
                try await bench.pipectl("logs", "2", "steady").errors.contains("it passed in run 1"),
                "the steady step is not repeated")
            #expect(run.change == "1")
            let nothing = try await bench.pipectl("rerun", "2", "--failed")
            #expect(nothing.code == 2)
            #expect(nothing.errors.contains("leave out --failed to repeat it whole"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `reports and logs of an ended run can be printed`() async throws {
        try await Bench.with { bench in
            try await bench.change(1, ["check.sh": "echo one; echo two '<b>'; echo three; echo four; exit 3\n"])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)

            func report(_ format: String) async throws -> String {
                let ended = try await bench.pipectl("report", "1", "--format", format)
                #expect(ended.code == 0, "\(format): \(ended.errors)")
                return ended.output
            }
            #expect(try await report("text").contains("failed"))
            #expect(try await report("markdown").contains("failed"))
            let html = try await report("html")
            #expect(html.lowercased().hasPrefix("<!doctype html>"))
            #expect(html.contains("two &#39;&lt;b&gt;") || html.contains("&lt;b&gt;"))
            #expect(!html.contains("two <b>"), "what a step prints stays text")
            let decoder = JSONSerialization.self
            let json = try decoder.jsonObject(with: Data(try await report("json").utf8)) as? [String: Any]
            #expect(json?["verdict"] as? String == "failed" || json?["report"] != nil)
            #expect(try await report("junit").contains("<testsuite"))
            #expect(try await bench.pipectl("report", "1", "--format", "pdf").code != 0)

            func logs(_ options: String...) async throws -> String {
                try await bench.command([Bench.pipectl, "logs", "1", "check"] + options).output
            }
            #expect(try await logs() == "one\ntwo <b>\nthree\nfour\n")
            #expect(try await logs("--tail", "2") == "three\nfour\n")
            #expect(try await logs("--grep", "^t") == "two <b>\nthree\n")
            #expect(try await logs("--grep", "three", "-C", "1") == "two <b>\nthree\nfour\n")
            #expect(try await bench.pipectl("logs", "1", "--failed").output == "one\ntwo <b>\nthree\nfour\n")
            let unknown = try await bench.pipectl("logs", "1", "chek")
            #expect(unknown.code == 2)
            #expect(unknown.errors.contains("has no step \"chek\"; it has check, lint"))
            #expect(try await bench.pipectl("logs", "1", "--grep", "(").code != 0)
            let missing = try await bench.pipectl("report", "99")
            #expect(missing.code != 0)
            #expect(missing.errors.contains("99"), "\(missing.errors)")
        }
    }
}
