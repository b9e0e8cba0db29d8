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

/// Runs of a daemon whose steps are on several machines.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/environ")))
struct MachineSpreadTests {
    private static func source(_ steps: String) -> String {
        """
        import Pipeline

        let w = Workflow("w", on: .push(to: "main")) {
        \(steps)
        }

        @main struct Workflows: WorkflowSet { static let workflows = [w] }

        """
    }

    /// The traits of this machine, which the others have, too.
    private static var own: [String] {
        #if arch(arm64)
            ["arm64", "linux"]
        #else
            ["linux", "x86_64"]
        #endif
    }

    private static let chain = source(
        """
            let make = Step("make", run: "mkdir -p out; cp file out/a").outputs("out/**").neverProved()
            let gpu = Step("gpu", needs: make, run: "\(MachineBench.meeting); mkdir made; cp out/a made/b; echo far")
                .outputs("made/**").on(.label("gpu")).neverProved()
            Step("use", needs: gpu, run: "cat made/b").neverProved()
        """)

    private func push(_ machines: MachineBench, _ daemon: Bench.Daemon) async throws {
        try await daemon.event(.baseline)
        try await machines.bench.commit(["file": "2\n"], "Two")
        #expect(try await machines.bench.pipectl("notify").code == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a step goes to the machine that it asks for, and to the next one if that is lost`() async throws {
        try await MachineBench.with(["one": ["gpu"], "two": ["gpu"]], workflows: Self.chain) { machines in
            let bench = machines.bench
            try await bench.withDaemon("--slots", "1") { daemon in
                try await push(machines, daemon)
                // Equal machines are taken in the order of their names.
                _ = try await machines.begun(on: "one")
                #expect(try await machines.machine("one").runs == [1])
                #expect(try await machines.machine("this machine").runs == [1])
                #expect(try await bench.pipectl("show", "1").output.contains("on one"))
                let agents = machines.processes(on: "one", "pipectl-agent")
                #expect(!agents.isEmpty)
                for agent in agents { kill(agent, SIGKILL) }
                try machines.letGo(try await machines.begun(on: "two"))
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(try await machines.machine("two").runs.isEmpty)
                #expect(await daemon.stop() == 0)
            }
            let report = try await bench.report(1)
            #expect(report.machine == nil && report.attempt == 1)
            #expect(report.steps.map { $0.attempts.map(\.machine) } == [[nil], ["one", "two"], [nil]])
            #expect(report.steps[1].attempts.map(\.status) == [.infrastructure, .passed])
            #expect(report.findings.contains { $0.rule == "machine-lost" && $0.message.contains("one") })
            let logs = try await bench.pipectl("logs", "1").output
            #expect(logs.contains("far") && logs.contains("2\n"), "\(logs)")
            #expect(try await bench.pipectl("show", "1").output.contains("on two"))
            #expect(machines.processes(on: "one", "").isEmpty && machines.processes(on: "two", "").isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `parts of a step run on a free machine, too, and are cancelled everywhere`() async throws {
        let source = Self.source(
            """
                Step("tests", run: "\(MachineBench.meeting)").testResults(.junit("r-$PIPECTL_SHARD.xml")).shards(2)
                    .neverProved()
            """)
        try await MachineBench.with(["one": Self.own], workflows: source) { machines in
            let bench = machines.bench
            try await bench.withDaemon("--slots", "1") { daemon in
                try await push(machines, daemon)
                _ = try await machines.begun(on: "one")
                #expect(try await machines.machine("one").free == 0)
                #expect(try await bench.pipectl("cancel", "1").code == 0)
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .cancelled)
                #expect(try await machines.machine("one").free == 1)
                #expect(machines.processes(on: "one", "").isEmpty)
                #expect(await daemon.stop() == 0)
            }
            let machines = try await bench.report(1).steps.map { $0.attempts.map(\.machine) }
            #expect(Set(machines) == [[nil], ["one"]])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `after kill -9 of the daemon nothing of a step runs elsewhere, and the next start finishes the run`()
        async throws
    {
        try await MachineBench.with(["one": ["gpu"]], workflows: Self.chain) { machines in
            let bench = machines.bench
            try await bench.withDaemon { daemon in
                try await push(machines, daemon)
                _ = try await machines.begun(on: "one")
                daemon.child.kill()
                #expect(await daemon.child.end == 128 + SIGKILL)
                try await eventually("the end of everything on the machine") {
                    machines.processes(on: "one", "").isEmpty && machines.workspaces(on: "one").isEmpty
                }
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                try machines.letGo(try await machines.begun(on: "one"))
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
            let report = try await bench.report(1)
            #expect(report.attempt == 2 && report.steps.map(\.status) == [.passed, .passed, .passed])
            #expect(report.steps[1].attempts.map(\.machine) == ["one"])
        }
    }
}
