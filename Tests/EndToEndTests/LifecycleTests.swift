import DaemonLog
import TestBasics
import Foundation
import TestSupport
import Testing

/// Runs and changes across restarts, deleted branches and corrected definitions.
struct LifecycleTests {
    static let check = "Step(\"check\", run: \"sh check.sh\").neverProved()"

    @Test(.timeLimit(.minutes(6)))
    func `the report of a second attempt says that the first was interrupted`() async throws {
        try await Bench.with(Workflows.test(Self.check, files: ["check.sh": ""])) { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let wait = "echo > \(bench.meet)/started; cat \(bench.meet)/never"
                try await bench.change(1, ["check.sh": "test \"$PIPECTL_RUN_ATTEMPT\" = 2 || { \(wait); }\n"])
                try await bench.arrival(at: "started")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(await daemon.stop() == 0)
            }
            let report = try await bench.pipectl("report", "1").output
            #expect(report.contains("the daemon ended during attempt 1"), "\(report)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change whose branch is deleted by its merge counts as landed`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look("--changes", "agent/*")
            try await bench.git(["checkout", "-q", "-b", "agent/fix"])
            try await bench.commit(["a.txt": "a\n"], "Fix")
            try await bench.git(["checkout", "-q", "main"])
            #expect(try await bench.look("--changes", "agent/*").code == 0)
            try await bench.git(["merge", "-q", "--no-ff", "-m", "Merge it", "agent/fix"])
            try await bench.git(["branch", "-q", "-d", "agent/fix"])
            #expect(try await bench.look("--changes", "agent/*").code == 0)
            #expect(try await bench.pipectl("logs", "2", "pack").output == "merged=agent/fix\n")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `status counts changes that conflict`() async throws {
        try await Bench.with { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let base = try await bench.git(["rev-parse", "main"])
                try await bench.commit(["shared.txt": "ours\n"], "Ours")
                try await daemon.event(.runQueued, run: 1)
                try await bench.change(1, ["shared.txt": "theirs\n"], from: base)
                try await daemon.event(.runQueued, run: 2)
                _ = try await bench.pipectl("logs", "2", "--follow")
                let status = try await bench.pipectl("status").output
                #expect(status.contains("1 conflict"), "\(status)")
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change is tested once the definition of its target is corrected`() async throws {
        try await Bench.with(Workflows.test(Self.check, files: ["check.sh": ""])) { bench in
            _ = try await bench.look()
            try await bench.commit(["workflows/broken.swift": "let x =\n"], "Break it")
            #expect(try await bench.look().code == 2)
            try await bench.change(1, ["a.txt": "a\n"], from: "main~1")
            #expect(try await bench.look().code == 2)
            try await bench.git(["rm", "-q", "workflows/broken.swift"])
            try await bench.commit([:], "Mend it")
            let mended = try await bench.look()
            #expect(mended.code == 0)
            #expect(mended.output.contains("test  passed"), "\(mended.errors)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `every command exits with the same code for wrong usage`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            #expect(try await bench.pipectl("show", "99").code == 2)
            #expect(try await bench.pipectl("report", "99").code == 2)
            #expect(try await bench.pipectl("run", "test", "--folder", bench.root).code == 2)
        }
    }
}
