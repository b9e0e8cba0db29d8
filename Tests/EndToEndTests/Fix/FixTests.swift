import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// `.onFailure(Fix(…))` with scripts as fixers.
struct FixTests {
    @Test(.timeLimit(.minutes(8)))
    func `a fix that passes is offered and can be applied`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(
                bench,
                """
                rm -f \(bench.meet)/prompt; cat > \(bench.meet)/prompt; cp "$PIPECTL_FIX_BUNDLE" \(bench.meet)/bundle.json; env > \(bench.meet)/env
                test "$(cat cache/product)" = built
                echo good > value.txt; echo junk > cache/more; echo note > new.txt; echo x > a.tmp; echo y > out/left.txt
                """)
            let series = try await Fixing.series(bench)
            #expect(series.state == .offered, "\(series)")
            let attempt = try #require(series.attempts.first)
            #expect(series.attempts.count == 1 && attempt.run == 2 && attempt.check == 3)
            #expect(try await Fixing.changes(bench, attempt) == ["A new.txt", "M value.txt"])

            let prompt = try String(contentsOfFile: "\(bench.meet)/prompt", encoding: .utf8)
            #expect(prompt.contains("the value is bad") && prompt.contains("Fix the cause"), "\(prompt)")
            #expect(!prompt.contains("Earlier attempts"))
            let bundle = try String(contentsOfFile: "\(bench.meet)/bundle.json", encoding: .utf8)
            #expect(try JSONSerialization.jsonObject(with: Data(bundle.utf8)) is [String: Any])

            // The fix's runs are marked as such, and the change keeps its own verdict.
            let runs = try await bench.runs()
            #expect(runs.map(\.id) == [3, 2, 1] && runs.map(\.verdict) == [.passed, .passed, .failed])
            #expect(runs.map { $0.fix?.inWords } == ["check of fix 1 of run 1", "fix 1 of run 1", nil])
            #expect(runs[2].fixState == .offered)
            let head = try await bench.git(["rev-parse", "refs/pull/1/head"])
            try await bench.withDaemon { daemon in
                let wait = try await bench.pipectl("wait", head)
                #expect(wait.code == 1 && wait.output.contains("pipectl fix 1 --patch | git am"), "\(wait.output)")
                #expect(await daemon.stop() == 0)
            }
            for format in ["text", "markdown", "html"] {
                let text = try await bench.pipectl("report", "1", "--format", format).output
                #expect(text.lowercased().contains("fix offered: attempt 1 passes as run 3"), "\(format): \(text)")
            }
            #expect(try await bench.pipectl("archive", "verify").code == 0)

            // A commit on top of the change's own head, without an author of its own, that passes when it is applied.
            let patch = try await bench.pipectl("fix", "1", "--patch")
            #expect(patch.code == 0 && patch.output.contains("Pipectl-Fix: run 1, attempt 1"), "\(patch.output)")
            try Data(patch.output.utf8).write(to: URL(fileURLWithPath: "\(bench.root)/fix.patch"))
            try await bench.git(["checkout", "-q", head])
            try await bench.git(["am", "-q", "\(bench.root)/fix.patch"])
            #expect(try await bench.git(["log", "-1", "--format=%an"]) == "pipectl fix")
            #expect(try await bench.command(["sh", "check.sh"], in: bench.repository).code == 0)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `the next attempt knows the result of the last one`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(
                bench,
                """
                rm -f \(bench.meet)/prompt; cat > \(bench.meet)/prompt
                if grep -q 'Earlier attempts' \(bench.meet)/prompt; then echo good > value.txt; else echo worse > value.txt; fi
                """, ", attempts: 3")
            let series = try await Fixing.series(bench)
            #expect(series.state == .offered && series.reason.contains("attempt 2 passes as run 5"), "\(series)")
            #expect(series.attempts.map(\.number) == [1, 2] && series.attempts.map(\.verdict) == [.failed, .passed])
            let prompt = try String(contentsOfFile: "\(bench.meet)/prompt", encoding: .utf8)
            #expect(prompt.contains("+worse") && prompt.contains("the value is worse"), "\(prompt)")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `only the fix is added to a change that is behind its target`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(
                bench,
                "sed -i s/five/5/ other.txt; echo good > value.txt; test -e later.txt; rm later.txt; touch later.txt")
            let old = try await bench.git(["rev-parse", "HEAD"])
            try await bench.commit(["later.txt": "", "other.txt": "ONE\ntwo\nthree\nfour\nfive\nsix\n"], "Later")
            _ = try await bench.look()
            try await bench.change(1, ["value.txt": "bad\n"], from: old)
            _ = try await bench.look()
            let series = try #require(try await Fixing.report(bench, 1).fixes)
            #expect(series.state == .offered, "\(series)")
            let attempt = try #require(series.attempts.first)
            #expect(try await Fixing.changes(bench, attempt) == ["M other.txt", "M value.txt"])
            let store = "\(bench.home)/mirrors/repo.merges.git"
            let other = try await bench.git(["show", "\(try #require(attempt.commit)):other.txt"], in: store)
            #expect(other == "one\ntwo\nthree\nfour\n5\nsix", "what the target brought is not in it")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `fix works by hand without a daemon and again later`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "true")
            try await bench.change(1, ["value.txt": "bad\n"])
            // A person who runs it by hand also decides about the rest by hand.
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            #expect(try await Fixing.report(bench, 1).fixes == nil)
            #expect(try await bench.pipectl("fix", "1", "--show").code == 2)
            let none = try await bench.pipectl("fix", "1")
            #expect(none.code == 1 && none.output.contains("fix abandoned"), "\(none)")
            #expect(none.output.contains("the fixer changed nothing"), "\(none)")
            #expect(try await bench.pipectl("fix", "1", "--patch").code == 2)

            try Fixing.write(bench, "echo good > value.txt")
            let good = try await bench.pipectl("fix", "1")
            #expect(good.code == 0 && good.output.contains("fix offered: attempt 2 passes as run 4"), "\(good)")
            #expect(try await bench.pipectl("fix", "1", "--show").output == good.output)
            let wrong = try await bench.pipectl("fix", "4")
            #expect(wrong.code == 2 && wrong.errors.contains("check of fix 2 of run 1"), "\(wrong)")
            #expect(!wrong.errors.contains("Cancellation"), "\(wrong)")
            #expect(try await bench.pipectl("rerun", "3").code == 2, "a fixer is not repeated behind its series' back")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `only failures are fixed and only by the target's definition`() async throws {
        try await Bench.with { bench in
            try await bench.commit(
                Workflows.test(
                    "Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": "true\n", "value.txt": "good\n"]),
                "No fixer")
            _ = try await bench.look()
            // A fixer that only the change declares is not run.
            try await bench.change(
                1, Fixing.files(bench).merging(["value.txt": "bad\n", "check.sh": "false\n"]) { $1 })
            _ = try await bench.look()
            #expect(try await bench.runs().count == 1)
            let refused = try await bench.pipectl("fix", "1")
            #expect(refused.code == 2 && refused.errors.contains("declares no fixer"), "\(refused)")

            try await Fixing.begin(bench, "echo good > value.txt")
            _ = try await bench.look()
            try await bench.change(2, ["new.txt": "new\n"])
            try await bench.change(3, ["value.txt": "conflict\n"], from: "main~2")
            _ = try await bench.look()
            let runs = try await bench.runs()
            #expect(!runs.contains { $0.fix != nil }, "\(runs.map(\.reason))")
            #expect(runs.contains { $0.change == "2" && $0.verdict == .passed })
        }
    }
}
