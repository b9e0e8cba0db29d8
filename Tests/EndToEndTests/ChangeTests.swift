import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Concurrent changes, changes of a remote, and changes with hostile names.
struct ChangeTests {
    static let check = "Step(\"check\", run: \"sh check.sh\")"

    @Test(.timeLimit(.minutes(6)))
    func `two changes run at the same time in separate workspaces`() async throws {
        try await Bench.with(Workflows.test(Self.check, files: ["check.sh": ""])) { bench in
            for name in ["left", "right"] { try bench.meetingPoint(name) }
            _ = try await bench.look()
            // Each waits for the other, so they would never end one after the other.
            let (left, right) = ("\(bench.meet)/left", "\(bench.meet)/right")
            try await bench.change(1, ["check.sh": "pwd; touch built; echo a > \(left); cat \(right)\n"])
            try await bench.change(2, ["check.sh": "pwd; test ! -e built; cat \(left); echo b > \(right)\n"])
            #expect(try await bench.look("--slots", "2").code == 0)
            let first = try await bench.pipectl("logs", "1").output.split(separator: "\n")
            let second = try await bench.pipectl("logs", "2").output.split(separator: "\n")
            #expect(first.count == 2 && second.count == 2)
            // Without a sandbox each has its own folder; in a sandbox each sees its own at the same path.
            #expect(first.first != second.first || first.first == "/workspace")
            let kept = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/workspaces")
            #expect(kept.isEmpty, "gone when the runs have ended")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `an interrupted release is not repeated`() async throws {
        let source = """
            import Pipeline
            let release = Workflow("release", on: .merge(into: "main")) { Step("publish", run: "sh publish.sh") }
            @main struct Workflows: WorkflowSet { static let workflows = [release] }
            """
        try await Bench.with(["workflows/x.swift": source]) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(
                    [
                        "publish.sh":
                            "echo x >> \(bench.meet)/published; echo > \(bench.meet)/started; cat \(bench.meet)/never"
                    ],
                    "Release")
                try await bench.arrival(at: "started")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .infrastructure)
                #expect(await daemon.stop() == 0)
            }
            let run = try await bench.run(1)
            #expect(run.verdict == .infrastructure)
            #expect(run.reason?.contains("`pipectl rerun 1`") == true)
            #expect(try String(contentsOfFile: "\(bench.meet)/published", encoding: .utf8) == "x\n")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change is tested again when its target moves if the workflow says so`() async throws {
        let source = Workflows.source(Self.check).replacing(
            "}\n@main", with: "}.retestWhenTargetMoves()\n@main")
        try await Bench.with(["workflows/x.swift": source, "check.sh": "test ! -e broken\n"]) { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look().code == 0)
            try await bench.commit(["broken": "by main\n"], "Main breaks it")
            #expect(try await bench.look().code == 1)
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.failed, .passed])
            #expect(runs.map(\.change) == ["1", "1"])
            #expect(Set(runs.map(\.head)).count == 1)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `names and titles of a change never become shell code or markup`() async throws {
        let step = "Step(\"check\", run: \"printf '%s|%s' \\\"$PIPECTL_CHANGE\\\" \\\"$PIPECTL_CHANGE_TITLE\\\"\")"
        try await Bench.with(Workflows.test(step)) { bench in
            _ = try await bench.look()
            let name = "$(touch${IFS}\(bench.root.replacing("/", with: "_"))pwned)`id`;'\"<b>"
            let title = "\u{1b}[31mred\u{1b}]0;title\u{7} $(touch \(bench.meet)/pwned) <script>alert(1)</script>"
            try await bench.git(["checkout", "-q", "--detach"])
            let head = try await bench.commit(["a.txt": "a\n"], title)
            try await bench.git(["checkout", "-q", "main"])
            try await bench.git(["update-ref", "refs/pull/\(name)/head", head])
            let look = try await bench.look()
            #expect(look.code == 0, "\(look.errors)")
            #expect(try await bench.pipectl("logs", "1").output == "\(name)|\(title)")
            #expect(!FileManager.default.fileExists(atPath: "\(bench.meet)/pwned"))
            for arguments in [["runs"], ["show", "1"], ["report", "1"], ["report", "1", "--format", "markdown"]] {
                let ended = try await bench.command([Bench.pipectl] + arguments)
                #expect(ended.code == 0)
                #expect(!(ended.output + ended.errors).contains("\u{1b}"), "\(arguments)")
            }
            #expect(!look.errors.contains("\u{1b}") && !look.output.contains("\u{1b}"))
            let html = try await bench.pipectl("report", "1", "--format", "html").output
            #expect(!html.contains("<script>alert(1)"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a remote is mirrored and its changes are tested`() async throws {
        try await Bench.with { bench in
            let url = "file://\(bench.repository)"
            func look() async throws -> Ended {
                try await bench.pipectl("watch", "--once", "--minimum-free", "0", url, in: bench.root)
            }
            let baseline = try await look()
            #expect(baseline.code == 0, "\(baseline.errors)")
            try await bench.change(1, ["a.txt": "a\n"])
            let tested = try await look()
            #expect(tested.code == 0)
            #expect(tested.output.contains("run 1  test  passed"))
            try FileManager.default.moveItem(atPath: bench.repository, toPath: "\(bench.root)/away")
            let away = try await look()
            #expect(away.code != 0, "no answer is not success")
            #expect(away.errors.contains("repo"), "\(away.errors)")
        }
    }
}
