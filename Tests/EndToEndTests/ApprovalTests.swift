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

/// `pipectl approve` with a daemon: runs and steps that wait for approval, also across restarts.
struct ApprovalTests {
    static let gated = """
        import Pipeline

        let test = Workflow("test", on: .pullRequest(into: "main")) {
            let gate = Step.approval("ship it")
            gate
            Step("after", needs: gate, run: "echo shipped")
        }
        let other = Workflow("other", on: .pullRequest(into: "main")) { Step("check", run: "sh check.sh") }
        @main struct Workflows: WorkflowSet { static let workflows = [test, other] }

        """

    static let asking = """
        import Pipeline
        let test = Workflow("test", on: .pullRequest(into: "main")) { Step("check", run: "sh check.sh") }.needsApproval()
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """

    @Test(.timeLimit(.minutes(6)))
    func `a run waits for approval across a restart and starts once approved`() async throws {
        try await Bench.with(["workflows/x.swift": Self.asking, "check.sh": "echo checked\n"]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.runNeedsApproval, run: 1)
                let status = try await bench.pipectl("status").output
                #expect(status.contains("waits    1  test  change 1 needs approval: pipectl approve 1"), "\(status)")
                let second = try await bench.pipectl("run", "test", "--change", "1")
                #expect(second.code == 5, "who waits is told")
                #expect(second.errors.contains("waiting for run 1, which needs approval: pipectl approve 1"))
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.watching)
                #expect(try await bench.run(1).heldFor != nil)
                let approve = try await bench.pipectl("approve", "1", "--reason", "read it")
                #expect(approve.code == 0 && approve.errors.contains("run 1: approved"), "\(approve.errors)")
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(try await bench.run(1).verdict == .passed)
                let again = try await bench.pipectl("approve", "1")
                #expect(again.code == 0 && again.errors.contains("already"), "\(again.errors)")
                let late = try await bench.pipectl("approve", "1", "--reject")
                #expect(late.code == 2 && late.errors.contains("pipectl rerun 1"), "\(late.errors)")
                let unknown = try await bench.pipectl("approve", "99")
                #expect(unknown.code == 2 && unknown.errors.contains("no run 99"), "\(unknown.errors)")

                try await daemon.event(.runNeedsApproval, run: 2)
                let reject = try await bench.pipectl("approve", "2", "--reject", "--reason", "no")
                #expect(reject.code == 0, "\(reject.errors)")
                let rejected = try await bench.run(2)
                #expect(rejected.verdict == .cancelled)
                #expect(rejected.reason?.contains(": no") == true)
                let report = try await bench.pipectl("report", "2").output
                #expect(report.contains("rejected by"), "\(report)")

                let head = try await bench.change(2, ["b.txt": "b\n"])
                try await daemon.event(.runNeedsApproval, run: 3)
                #expect(head != (try await bench.change(2, ["b.txt": "c\n"])))
                try await daemon.event(.runNeedsApproval, run: 4)
                #expect(try await bench.run(3).verdict == .superseded, "a newer push needs a word of its own")
                #expect(try await bench.pipectl("approve", "3").code == 2)
                #expect(try await bench.pipectl("cancel", "4").code == 0)
                #expect(try await bench.run(4).verdict == .cancelled)
                #expect(await daemon.stop() == 0)
            }
            try FileManager.default.removeItem(atPath: "\(bench.home)/index.sqlite")
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(bench.home)/index.sqlite\(suffix)")
            }
            #expect(try await bench.pipectl("archive", "reindex").code == 0)
            #expect(try await bench.pipectl("report", "1").output.contains(": read it"))
            #expect(try await bench.run(1).trust == .change)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a step waits for approval without a slot while another run continues`() async throws {
        try await Bench.with(["workflows/x.swift": Self.gated, "check.sh": "echo checked\n"]) { bench in
            try await bench.withDaemon("--slots", "1") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.stepNeedsApproval)
                // With one slot and one run at a time, the other workflow must still end.
                _ = try await bench.pipectl("logs", "2", "--follow")
                let runs = try await bench.runs()
                #expect(runs.first { $0.workflow == "other" }?.verdict == .passed)
                let test = try #require(runs.first { $0.workflow == "test" })
                #expect(test.state == .running && test.heldFor?.contains("ship it") == true)
                let list = try await bench.pipectl("runs").output
                #expect(list.contains("? needs approval") && !list.contains("▶"), "\(list)")
                let status = try await bench.pipectl("status").output
                #expect(
                    status.contains("\"ship it\" needs approval: pipectl approve \(test.id) --step \"ship it\""),
                    "\(status)")
                #expect(try await bench.pipectl("show", "\(test.id)").output.contains("waits for approval"))
                let whole = try await bench.pipectl("approve", "\(test.id)")
                #expect(whole.code == 2 && whole.errors.contains("--step \"ship it\""), "\(whole.errors)")
                let approve = try await bench.pipectl("approve", "\(test.id)", "--step", "ship it", "--reason", "go")
                #expect(approve.code == 0, "\(approve.errors)")
                _ = try await bench.pipectl("logs", "\(test.id)", "--follow")
                #expect(try await bench.run(Int(test.id)).verdict == .passed)
                let report = try await bench.pipectl("report", "\(test.id)").output
                #expect(report.contains("step \"ship it\" approved by \(NSUserName())"), "\(report)")

                try await bench.change(2, ["b.txt": "b\n"])
                try await daemon.event(.stepNeedsApproval, run: 3)
                #expect(try await bench.pipectl("approve", "3", "--step", "ship it", "--reject").code == 0)
                _ = try await bench.pipectl("logs", "3", "--follow")
                #expect(try await bench.run(3).verdict == .failed)

                try await bench.change(3, ["c.txt": "c\n"])
                try await daemon.event(.stepNeedsApproval, run: 5)
                #expect(try await bench.pipectl("cancel", "5").code == 0)
                _ = try await bench.pipectl("logs", "5", "--follow")
                #expect(try await bench.run(5).verdict == .cancelled)

                try await bench.change(4, ["d.txt": "d\n"])
                try await daemon.event(.stepNeedsApproval, run: 7)
                try await bench.change(4, ["d.txt": "e\n"])
                _ = try await bench.pipectl("logs", "7", "--follow")
                #expect(try await bench.run(7).verdict == .superseded)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a shutdown requeues a run that only waits for approval, and its answer stays valid`() async throws {
        try await Bench.with(["workflows/x.swift": Self.gated, "check.sh": "echo checked\n"]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.stepNeedsApproval, run: 1)
                #expect(await daemon.stop() == 0, "it does not wait for a person")
            }
            let run = try await bench.run(1)
            #expect(run.state == .queued && run.verdict == nil)
            // No daemon runs: the decision is stored for the next start.
            #expect(try await bench.pipectl("approve", "1", "--step", "ship it").code == 0)
            try await bench.withDaemon { daemon in
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(await daemon.stop() == 0)
            }
            let ended = try await bench.run(1)
            #expect(ended.verdict == .passed && ended.attempt == 2)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a killed daemon asks for the approval again`() async throws {
        try await Bench.with(["workflows/x.swift": Self.gated, "check.sh": "echo checked\n"]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.stepNeedsApproval, run: 1)
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.stepNeedsApproval, run: 1)
                #expect(try await bench.pipectl("approve", "1", "--step", "ship it").code == 0)
                _ = try await bench.pipectl("logs", "1", "--follow")
                #expect(try await bench.run(1).verdict == .passed)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `watch --once does not wait for an approval`() async throws {
        try await Bench.with(["workflows/x.swift": Self.gated, "check.sh": "echo checked\n"]) { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            let look = try await bench.look()
            #expect(look.code == 5, "\(look.output)\(look.errors)")
            #expect(look.output.contains("needs approval"), "\(look.output)")
            let run = try #require(try await bench.runs().first { $0.workflow == "test" })
            #expect(try await bench.pipectl("approve", "\(run.id)", "--step", "ship it").code == 0)
            #expect(try await bench.look().code == 0)
        }
    }
}
