import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// A failed run continues in its retained workspace, and a person can inspect it.
struct RepetitionTests {
    private static let steps = """
        let build = Step("build", run: "echo built by $PIPECTL_RUN > product; mkdir -p ~/tool; echo of home > ~/tool/it; echo x >> shared.txt")
            .artifacts("product")
        build
        let check = Step("check", needs: build, run: "cat product ~/tool/it; tail -n 1 shared.txt; test -e ROOT/mended")
            .environment(["WORD": "from the step"])
        check
        Step("after", needs: check, run: "cat product")
        Step("beside", run: "echo beside")
        """

    private static func commit(_ bench: Bench) async throws {
        try await bench.commit(
            Workflows.test(steps.replacing("ROOT", with: bench.meet), files: ["shared.txt": "base\n"]), "Steps")
        try await bench.change(1, ["a.txt": "a\n"])
    }

    @Test(.timeLimit(.minutes(6)))
    func `rerun --failed does not repeat passed steps and numbers the attempts`() async throws {
        try await Bench.with { bench in
            try await Self.commit(bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            let again = try await bench.pipectl("rerun", "1", "--failed")
            #expect(again.code == 1, "\(again.errors)")
            _ = FileManager.default.createFile(atPath: "\(bench.meet)/mended", contents: nil)
            let last = try await bench.pipectl("rerun", "2", "--failed")
            #expect(last.code == 0, "\(last.errors)\(last.output)")
            #expect(last.output.contains("attempt 3 of run 1"))

            let report = try await bench.report(3)
            #expect(report.resumed == 2 && report.rerunOf == 2)
            #expect(report.repetition == Report.Repetition(origin: 1, number: 3))
            let build = try #require(report.steps.first { $0.name == "build" })
            #expect(build.attempts.isEmpty && build.carriedFrom?.run == 1)
            #expect(report.steps.first { $0.name == "after" }?.attempts.count == 1, "what was skipped has its turn")
            #expect(report.artifacts.map(\.path) == ["product"])
            #expect(report.steps.allSatisfy { $0.key == nil }, "nothing that leans on a failed attempt is a proof")
            let log = try await bench.pipectl("logs", "3", "check").output
            #expect(log == "built by 1\nof home\nx\n")
            #expect(try await bench.pipectl("logs", "3", "after").output == "built by 1\n")
            let twice = try await bench.pipectl("rerun", "1", "--failed")
            #expect(twice.output.contains("attempt 4 of run 1"), "no two repetitions have the same number")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `without the retained workspace all steps run and the report says why`() async throws {
        try await Bench.with { bench in
            try await Self.commit(bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            _ = FileManager.default.createFile(atPath: "\(bench.meet)/mended", contents: nil)
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/kept") {
                #expect(try await bench.command(["rm", "-rf", "\(bench.home)/kept/\(name)"]).code == 0)
            }
            let again = try await bench.pipectl("rerun", "1", "--failed")
            #expect(again.code == 0, "\(again.errors)")
            let report = try await bench.report(2)
            #expect(report.resumed == nil)
            #expect(report.steps.allSatisfy { $0.attempts.count == 1 })
            #expect(
                report.findings.contains { $0.rule == "not-resumed" && $0.message.contains("its workspace is gone") })
            let open = try await bench.pipectl("open", "1", "--", "true")
            #expect(open.code == 2 && open.errors.contains("no retained workspace"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a setting limits the time of retention, and a passed run retains nothing`() async throws {
        try await Bench.with { bench in
            try await bench.change(1, ["check.sh": "echo x > made; exit 1\n"])
            try await bench.change(2, ["a.txt": "a\n"])
            #expect(try await bench.look("--since", "1d", "--keep-failed", "0h").code == 1)
            let kept = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/kept")
            #expect(kept.isEmpty)
            try await bench.change(1, ["check.sh": "echo x > made; exit 2\n"])
            #expect(try await bench.look().code == 1)
            let now = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/kept")
            #expect(now == ["3-1"])
            let mode = try FileManager.default.attributesOfItem(atPath: "\(bench.home)/kept")[.posixPermissions]
            #expect(mode as? Int == 0o700, "no other run may read it")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `open shows the step's files and discards changes`() async throws {
        try await Bench.with { bench in
            try await Self.commit(bench)
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            let look = """
                echo "$WORD, $PIPECTL_STEP, $PIPECTL_CHANGE"; pwd; cat product ~/tool/it; id -un
                git status --porcelain; echo spoilt > product; touch ~/tool/new
                ls \(bench.home) 2>&1 | grep -c 'No such file'; cat /proc/net/dev | wc -l; exit 7
                """
            let open = try await bench.pipectl("open", "1", "--", "sh", "-c", look)
            #expect(open.code == 7, "\(open.errors)")
            let lines = open.output.split(separator: "\n").map(String.init)
            #expect(lines.first == "from the step, check, 1")
            #if os(Linux)
                #expect(lines.dropFirst().first == "/workspace")
            #endif
            #expect(open.output.contains("built by 1\nof home\npipectl\n"))
            #expect(open.output.contains(" M shared.txt"))
            let other = try await bench.pipectl(
                "open", "1", "--step", "build", "--", "sh", "-c", "echo $PIPECTL_STEP; cat product; ls ~/tool")
            #expect(other.output == "build\nbuilt by 1\nit\n", "\(other.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/kept")
            #expect(left == ["1-1"], "the copies are gone")
            let wrong = try await bench.pipectl("open", "1", "--step", "chekc")
            #expect(wrong.code == 2 && wrong.errors.contains("build, check, after, beside"))
        }
    }

    #if os(Linux)
        /// script(1) gives it a terminal.
        @Test(.timeLimit(.minutes(6)))
        func `open gives a shell with job control at a terminal`() async throws {
            try await Bench.with { bench in
                try await Self.commit(bench)
                #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
                let typed =
                    "tty >/dev/null; [ -t 0 ] && echo 'a '\"terminal\"; set -o | grep monitor; cat product; exit 3"
                let line =
                    "printf '%s\\n' \"\(typed.replacing("\"", with: "\\\""))\" | script -qec \"$0 open 1\" /dev/null"
                let ended = try await bench.command(["sh", "-c", line, Bench.pipectl])
                #expect(ended.code == 3, "\(ended.output)\(ended.errors)")
                #expect(ended.output.contains("a terminal"))
                #expect(ended.output.contains("monitor") && ended.output.contains("built by 1"))
            }
        }
    #endif
}
