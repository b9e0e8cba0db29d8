import DaemonLog
import TestBasics
import Results
import Store
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Release steps that must not run twice, whichever process dies.
struct ReleaseCrashTests {
    static let files = [
        "workflows/x.swift": """
        import Pipeline

        let release = Workflow("release", on: .merge(into: "main")) {
            let build = Step("build", run: "sh build.sh").idempotent()
            build
            Step("publish", needs: build, run: "sh publish.sh")
        }
        @main struct Workflows: WorkflowSet { static let workflows = [release] }

        """,
        "build.sh": "", "publish.sh": "",
    ]

    /// Starts a release with these scripts, and kills the daemon when a step has reached `started`.
    private func crash(_ bench: Bench, build: String = "true", publish: String = "true") async throws {
        for name in ["started", "never"] { try bench.meetingPoint(name) }
        // The steps of each run may be another user.
        let effects = "\(bench.meet)/effects"
        _ = FileManager.default.createFile(atPath: effects, contents: nil)
        chmod(effects, 0o666)
        try await bench.withDaemon { daemon in
            try await daemon.event(.baseline)
            try await bench.commit(["build.sh": build + "\n", "publish.sh": publish + "\n"], "Release it")
            try await bench.arrival(at: "started")
            daemon.child.kill()
            _ = await daemon.child.end
        }
    }

    private func effects(_ bench: Bench) -> Int {
        String(decoding: FileManager.default.contents(atPath: "\(bench.meet)/effects") ?? Data(), as: UTF8.self)
            .split(separator: "\n").count
    }

    @Test(.timeLimit(.minutes(6)))
    func `a step that may have acted is not repeated without a person`() async throws {
        try await Bench.with(Self.files) { bench in
            let wait = "echo up > \(bench.meet)/started; cat \(bench.meet)/never"
            try await crash(
                bench, publish: "echo done >> \(bench.meet)/effects; test -e \(bench.meet)/again || { \(wait); }")
            try await bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .infrastructure)
                let said = ended.message
                #expect(said.contains("step \"publish\" (sh publish.sh) was started at 20"), "\(said)")
                #expect(said.contains("on attempt 1 and its result is not known"), "\(said)")
                #expect(said.contains("`pipectl rerun 1`"), "\(said)")
                let run = try await bench.run(1)
                #expect(run.verdict == .infrastructure)
                #expect(run.attempt == 1)
                #expect(run.reason?.hasPrefix("unknown: check it by hand: ") == true)
                let report = try await bench.pipectl("report", "1").output
                #expect(report.contains("step \"build\" (sh build.sh) was started at"), "\(report)")
                #expect(report.contains("and passed (idempotent)"), "\(report)")
                #expect(effects(bench) == 1, "it was not done again")
                // The person has checked and runs it again.
                _ = FileManager.default.createFile(atPath: "\(bench.meet)/again", contents: nil)
                #expect(try await bench.pipectl("rerun", "1").code == 0)
                #expect(effects(bench) == 2)
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.runs().map(\.verdict) == [.passed, .infrastructure])
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a release in which only idempotent steps had started runs again`() async throws {
        try await Bench.with(Self.files) { bench in
            let wait = "echo up > \(bench.meet)/started; cat \(bench.meet)/never"
            try await crash(
                bench, build: "test \"$PIPECTL_RUN_ATTEMPT\" = 2 || { \(wait); }",
                publish: "echo done >> \(bench.meet)/effects")
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(await daemon.stop() == 0)
            }
            let run = try await bench.run(1)
            #expect(run.verdict == .passed)
            #expect(run.attempt == 2)
            #expect(effects(bench) == 1)
            let report = try await bench.pipectl("report", "1").output
            #expect(report.contains("the daemon ended during attempt 1"), "\(report)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the report names a step that acted and whose result is unknown`() async throws {
        // The step has ended, but the daemon is stopped before it can record that, and then killed.
        try await Bench.with(Self.files) { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(
                    [
                        "publish.sh":
                            "echo up > \(bench.meet)/started; cat \(bench.meet)/go; echo done >> \(bench.meet)/effects\n"
                    ], "Release it")
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGSTOP)
                try await bench.release("go")
                try await eventually("the effect of the step") { effects(bench) > 0 }
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .infrastructure)
                #expect(await daemon.stop() == 0)
            }
            #expect(effects(bench) == 1)
            #expect(try await bench.runs().count == 1)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `tests of changes record no intents`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look().code == 0)
            try await bench.commit(["b.txt": "b\n"], "Merge it")
            #expect(try await bench.look().code == 0)
            let index = try Store.Index(path: "\(bench.home)/index.sqlite", check: .none)
            #expect(try await index.intents(of: 1).isEmpty)
            let release = try await index.intents(of: 2)
            #expect(release.map(\.intent.step) == ["pack"])
            #expect(release.map(\.status) == [.passed])
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a run during which the daemon crashed three times is not started again`() async throws {
        try await Bench.with(Workflows.test("Step(\"check\", run: \"sh check.sh\")", files: ["check.sh": ""])) {
            bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            for attempt in 1...3 {
                try await bench.withDaemon { daemon in
                    if attempt == 1 {
                        try await daemon.event(.baseline)
                        try await bench.change(
                            1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/never\n"])
                    }
                    try await bench.arrival(at: "started")
                    daemon.child.kill()
                    _ = await daemon.child.end
                }
            }
            try await bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .infrastructure)
                #expect(await daemon.stop() == 0)
            }
            let run = try await bench.run(1)
            #expect(run.verdict == .infrastructure)
            #expect(run.attempt == 3)
        }
    }
}
