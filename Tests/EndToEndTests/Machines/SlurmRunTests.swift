import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs of a daemon that has Slurm: their steps go on without the daemon and without `srun`.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/environ")))
struct SlurmRunTests {
    /// A step that counts until the test lets it go, with its starts in a file.
    private static let counting = """
        touch begun; echo x >> starts; i=0; \
        while [ ! -e go ]; do i=$((i + 1)); echo line $i; echo $i > count; sleep 0.02; done; \
        echo total $i starts $(wc -l < starts)
        """

    private static func workflows(_ trigger: String) -> String {
        """
        import Pipeline

        let a = Workflow("a", on: \(trigger)) {
            let first = Step("first", run: "echo y >> firsts; git show HEAD:file").neverProved().on(.label("node"))
            first
            let count = Step("count", needs: first, run: "\(counting)").neverProved().on(.label("node"))
            count
            Step("last", needs: count, run: "cat firsts starts").neverProved().on(.label("node"))
        }
        @main struct Workflows: WorkflowSet { static let workflows = [a] }

        """
    }

    /// Starts a run, and waits until its second step has printed something.
    private func begin(_ machines: MachineBench, _ daemon: Bench.Daemon) async throws -> String {
        try await daemon.event(.baseline)
        try await machines.bench.commit(["file": "2\n"], "Two")
        #expect(try await machines.bench.pipectl("notify").code == 0)
        let workspace = try await machines.begun(on: MachineBench.cluster)
        try await counts(20, in: workspace)
        return workspace
    }

    private func counts(_ more: Int, in workspace: String) async throws {
        let before = count(in: workspace)
        try await eventually("more lines") { count(in: workspace) >= before + more }
    }

    private func count(in workspace: String) -> Int {
        let text = (try? String(contentsOfFile: "\(workspace)/count", encoding: .utf8)) ?? ""
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    private func kill(_ daemon: Bench.Daemon) async {
        daemon.child.kill()
        #expect(await daemon.child.end == 128 + SIGKILL)
    }

    /// Checks the log of the run's second step: each line is there once, and it was started once.
    private func expectWhole(_ machines: MachineBench, verdict: Verdict = .passed, attempt: Int) async throws {
        let report = try await machines.bench.report(1)
        #expect(report.verdict == verdict && report.attempt == attempt, "\(report.verdict) \(report.reason)")
        #expect(report.machine == MachineBench.cluster)
        #expect(report.steps.map(\.attempts.count) == [1, 1, 1])
        let lines = try await machines.bench.pipectl("logs", "1", "count").output.split(separator: "\n")
        let total = lines.count - 1
        #expect(lines.dropLast().map(String.init) == (0..<max(total, 0)).map { "line \($0 + 1)" })
        #expect(lines.last ?? "" == "total \(total) starts 1")
        #expect(try await machines.bench.pipectl("logs", "1", "last").output == "y\nx\n")
        try await expectNothingLeft(machines)
    }

    private func expectNothingLeft(_ machines: MachineBench) async throws {
        try await eventually("the end of everything on the node") {
            machines.jobs.isEmpty && machines.processes(on: MachineBench.cluster, "").isEmpty
                && machines.workspaces(on: MachineBench.cluster).isEmpty
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [#".push(to: "main")"#, #".merge(into: "main")"#])
    func `a run goes on without the daemon, and the next life takes it over`(_ trigger: String) async throws {
        try await MachineBench.withSlurm(workflows: Self.workflows(trigger)) { machines in
            var workspace = ""
            try await machines.bench.withDaemon { daemon in
                workspace = try await begin(machines, daemon)
                await kill(daemon)
            }
            // It goes on without anybody.
            try await counts(20, in: workspace)
            try await machines.bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                try await daemon.event(.runAdopted, run: 1)
                try await counts(20, in: workspace)
                try machines.letGo(workspace)
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
            try await expectWhole(machines, attempt: 2)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [#".push(to: "main")"#, #".merge(into: "main")"#])
    func `a run whose step ends while there is no daemon has its verdict`(_ trigger: String) async throws {
        try await MachineBench.withSlurm(workflows: Self.workflows(trigger)) { machines in
            var workspace = ""
            try await machines.bench.withDaemon { daemon in
                workspace = try await begin(machines, daemon)
                await kill(daemon)
            }
            try machines.letGo(workspace)
            try await machines.bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
            try await expectWhole(machines, attempt: 2)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [#".push(to: "main")"#, #".merge(into: "main")"#])
    func `a run goes on when srun is killed`(_ trigger: String) async throws {
        try await MachineBench.withSlurm(workflows: Self.workflows(trigger)) { machines in
            try await machines.bench.withDaemon { daemon in
                let workspace = try await begin(machines, daemon)
                for number in 1...2 {
                    let clients = machines.processes(on: MachineBench.cluster, "--connect")
                    #expect(!clients.isEmpty)
                    for client in clients { Foundation.kill(client, SIGKILL) }
                    try await eventually("it is taken over") {
                        daemon.events(.runAdopted, run: 1).count == number
                    }
                    try await counts(5, in: workspace)
                }
                try machines.letGo(workspace)
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
            try await expectWhole(machines, attempt: 1)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a run that was taken over can be cancelled`() async throws {
        try await MachineBench.withSlurm(workflows: Self.workflows(#".push(to: "main")"#)) { machines in
            try await machines.bench.withDaemon { daemon in
                _ = try await begin(machines, daemon)
                await kill(daemon)
            }
            try await machines.bench.withDaemon { daemon in
                try await daemon.event(.runAdopted, run: 1)
                #expect(try await machines.bench.pipectl("cancel", "1").code == 0)
                #expect(try await daemon.ended(1).verdict == .cancelled)
                try await expectNothingLeft(machines)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [#".push(to: "main")"#, #".merge(into: "main")"#])
    func `a run whose agent is gone begins again, but no release`(_ trigger: String) async throws {
        try await MachineBench.withSlurm(workflows: Self.workflows(trigger)) { machines in
            var workspace = ""
            try await machines.bench.withDaemon { daemon in
                workspace = try await begin(machines, daemon)
                await kill(daemon)
            }
            for agent in machines.processes(on: MachineBench.cluster, "--listen") { Foundation.kill(agent, SIGKILL) }
            try await machines.bench.withDaemon { daemon in
                try await daemon.event(.runNotAdopted, run: 1)
                if trigger.hasPrefix(".push") {
                    try machines.letGo(try await machines.begun(on: MachineBench.cluster, since: [workspace]))
                    #expect(try await daemon.ended(1).verdict == .passed)
                    #expect(try await machines.bench.report(1).attempt == 2)
                } else {
                    #expect(try await daemon.ended(1).verdict == .infrastructure)
                    let reason = try await machines.bench.report(1).reason
                    #expect(reason.hasPrefix("unknown: check it by hand: "), "\(reason)")
                }
                #expect(await daemon.stop() == 0)
            }
            // The next agent removes the files of one that was killed.
            try await eventually("the end of everything on the node") {
                machines.jobs.isEmpty && machines.processes(on: MachineBench.cluster, "").isEmpty
            }
        }
    }
}
