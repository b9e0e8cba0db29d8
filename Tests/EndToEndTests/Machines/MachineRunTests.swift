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

/// Runs of a daemon that has other machines.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/environ")))
struct MachineRunTests {
    private static func workflow(_ name: String, _ modifiers: String, _ line: String = "cat file") -> String {
        """
        let \(name) = Workflow("\(name)", on: .push(to: "main")) {
            Step("s", run: "\(line)").neverProved()\(modifiers)
        }

        """
    }

    private static func workflows(_ all: (name: String, modifiers: String, line: String)...) -> String {
        "import Pipeline\n\n" + all.map { workflow($0.name, $0.modifiers, $0.line) }.joined()
            + "@main struct Workflows: WorkflowSet { static let workflows = ["
            + all.map(\.name).joined(separator: ", ") + "] }\n"
    }

    @Test(.timeLimit(.minutes(10)))
    func `a run goes to the machine that its step asks for, and others stay`() async throws {
        let source = Self.workflows(
            ("far", #".on(.label("gpu"))"#, "cat file; pwd"), ("near", "", "cat file"),
            ("nowhere", #".on(.label("cray"))"#, "cat file"))
        try await MachineBench.with(["one": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try await bench.withDaemon("--slots", "2") { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["file": "2\n"], "Two")
                #expect(try await bench.pipectl("notify").code == 0)
                for run: RunID in 1...3 { try await daemon.ended(run) }
                #expect(try await machines.machine("one").runs.isEmpty)
                #expect(await daemon.stop() == 0)
            }
            let runs = try await bench.runs()
            let far = try #require(runs.first { $0.workflow == "far" })
            let report = try await bench.report(far.id)
            #expect(far.verdict == .passed && report.machine == "one", "\(far)")
            #expect(try await bench.pipectl("logs", "\(far.id)").output.hasPrefix("2\n"))
            let near = try #require(runs.first { $0.workflow == "near" })
            #expect(near.verdict == .passed)
            #expect(try await bench.report(near.id).machine == nil)
            let nowhere = try #require(runs.first { $0.workflow == "nowhere" })
            #expect(nowhere.verdict == .infrastructure)
            #expect(nowhere.reason?.contains("pipectl machines add") == true, "\(nowhere)")
            #expect(try await bench.pipectl("show", "\(far.id)").output.contains("one"))
        }
    }

    @Test(.enabled(if: Overlays.isPossible, "nothing can be mounted here"), .timeLimit(.minutes(10)))
    func `a change on a machine starts from the snapshot that merged code has left there`() async throws {
        let source = """
            import Pipeline
            let test = Workflow("test", on: .pullRequest(into: "main")) {
                Step("check", run: "sh check.sh").neverProved().on(.label("gpu")).testResults(.junit("results.xml"))
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        let check = """
            if [ -f built/product ]; then echo "warm $(cat built/product)"; else echo cold; fi
            if [ -e leak ] || [ -e results.xml ]; then echo "something of another run"; exit 1; fi
            mkdir -p built; [ -f built/product ] || echo "by run $PIPECTL_RUN" > built/product
            echo "file says $(cat file)"; git status --porcelain --untracked-files=no
            echo '<testsuite><testcase name="one" classname="all"/></testsuite>' > results.xml
            [ ! -f leaky ] || touch leak

            """
        try await MachineBench.with(["one": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try await bench.commit(["check.sh": check, "other": "1\n"], "A check")
            func pass(_ run: RunID, _ daemon: Bench.Daemon) async throws -> (report: Report, log: String) {
                // Its workspace is kept after its verdict.
                #expect(try await daemon.ended(run).verdict == .passed)
                let report = try await bench.report(run)
                #expect(report.machine == "one")
                return (report, try await bench.pipectl("logs", "\(run)").output)
            }
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["other": "2\n", "leaky": ""])
                _ = try await bench.pipectl("notify")
                let first = try await pass(1, daemon)
                #expect(first.log.contains("cold") && first.report.base == nil)
                #expect(first.report.cold == "there is no warm workspace of main on one yet")
                // The daemon makes one there in idle time, and tests the target to compare the change with it.
                for run: RunID in [2, 3] { #expect(try await pass(run, daemon).report.change == nil) }

                try await bench.change(2, ["file": "2\n"])
                _ = try await bench.pipectl("notify")
                let warm = try await pass(4, daemon)
                #expect(warm.log.contains("warm by run 2") && warm.log.contains("file says 2"), "\(warm.log)")
                #expect(!warm.log.contains("M file"), "the index is the tested commit's: \(warm.log)")
                #expect(warm.report.base?.run == 3 && warm.report.base?.changedFiles == 1)
                #expect(warm.report.testCounts.total == 1)

                // When the target moves, the next snapshot lies on the last one.
                try await bench.commit(["other": "main\n"], "Main")
                _ = try await bench.pipectl("notify")
                #expect(try await pass(5, daemon).report.base?.run == 3)
                try await bench.change(3, ["new/file": "new\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await pass(6, daemon).report.base?.run == 5)
                #expect(await daemon.stop() == 0)
            }
            let kept = "\(machines.hosts)/one/.cache/pipectl-agent"
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(kept)/runs").isEmpty)
            let all = FileManager.default.enumerator(atPath: "\(kept)/snapshots")
            let records = (all?.allObjects as? [String] ?? []).filter { $0.hasSuffix("/snapshot.json") }
            #expect(records.count == 3, "\(records)")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what ran on a machine proves steps there, and on no other machine`() async throws {
        let source = """
            import Pipeline
            let test = Workflow("test", on: .push(to: "main")) {
                Step("s", run: "cat file").inputs("file").on(.label("gpu"))
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        try await MachineBench.with(["one": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                func proof(_ run: RunID) async throws -> RunID? {
                    try await bench.commit(["other": "\(run)\n"], "Number \(run)")
                    #expect(try await bench.pipectl("notify").code == 0)
                    try await daemon.ended(run)
                    let report = try await bench.report(run)
                    #expect(report.verdict == .passed)
                    return report.steps.first?.provedBy?.run
                }
                #expect(try await proof(1) == nil)
                #expect(try await proof(2) == 1)
                try machines.list(["two": ["gpu"]])
                #expect(try await proof(3) == nil)
                #expect(try await bench.report(3).machine == "two")
                #expect(try await proof(4) == 3)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `runs spread over machines, and who waits is told why, can be cancelled, and holds up nobody`() async throws {
        let on = #".on(.label("gpu"))"#
        let source = Self.workflows(
            ("a", on, MachineBench.meeting), ("b", on, MachineBench.meeting), ("c", on, MachineBench.meeting),
            ("d", "", "cat file"))
        try await MachineBench.with(["one": ["gpu"], "two": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try await bench.withDaemon("--slots", "1") { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["file": "2\n"], "Two")
                #expect(try await bench.pipectl("notify").code == 0)
                let first = try await machines.begun(on: "one")
                let second = try await machines.begun(on: "two")
                // The fourth one asks for nothing, and the box is free.
                let d = try await run("d", bench)
                try await daemon.ended(d)
                let taken = try await machines.machine("one").runs + machines.machine("two").runs
                let waiting = try #require(try await bench.runs().first { $0.verdict == nil && !taken.contains($0.id) })
                #expect(try await machines.waits(waiting.id)?.contains("one") == true)
                #expect(try await bench.pipectl("machines", "drain", "one").code == 0)
                #expect(try await bench.pipectl("cancel", "\(waiting.id)").code == 0)
                #expect(try await daemon.ended(waiting.id).verdict == .cancelled)
                for workspace in [first, second] { try machines.letGo(workspace) }
                for run in taken { #expect(try await daemon.ended(run).verdict == .passed) }
                let drained = try await machines.machine("one")
                #expect(drained.runs.isEmpty && drained.reason != nil)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a machine without a network is left out, and one that is lost gives its run to another`() async throws {
        let source = Self.workflows(
            ("a", #".on(.label("gpu"))"#, "\(MachineBench.meeting); cat file"))
        try await MachineBench.with(["one": ["gpu"], "two": ["gpu"], "three": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try machines.cut("one")
            try await bench.withDaemon("--slots", "1") { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["file": "2\n"], "Two")
                #expect(try await bench.pipectl("notify").code == 0)
                // Machines are asked in the order of their names.
                _ = try await machines.begun(on: "three")
                #expect(try await machines.machine("one").reason?.contains("No route to host") == true)
                let agents = machines.processes(on: "three", "pipectl-agent")
                #expect(!agents.isEmpty)
                for agent in agents { kill(agent, SIGKILL) }
                try machines.letGo(try await machines.begun(on: "two"))
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(try await machines.machine("three").reason != nil)
                #expect(await daemon.stop() == 0)
            }
            let report = try await bench.report(1)
            #expect(report.machine == "two" && report.attempt == 1)
            #expect(report.findings.contains { $0.rule == "machine-lost" && $0.message.contains("three") })
            #expect(try await bench.pipectl("logs", "1").output == "2\n")
            #expect(machines.processes(on: "three", "begun").isEmpty, "nothing of the lost run is left")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `after kill -9 of the daemon nothing runs elsewhere, and the next start finishes the run`() async throws {
        let source = Self.workflows(
            ("a", #".on(.label("gpu"))"#, "\(MachineBench.meeting); cat file"))
        try await MachineBench.with(["one": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["file": "2\n"], "Two")
                #expect(try await bench.pipectl("notify").code == 0)
                _ = try await machines.begun(on: "one")
                #expect(!machines.processes(on: "one", "pipectl-agent").isEmpty)
                daemon.child.kill()
                #expect(await daemon.child.end == 128 + SIGKILL)
                try await eventually("the end of everything on the machine") {
                    machines.processes(on: "one", "").isEmpty && machines.workspaces(on: "one").isEmpty
                }
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.runInterrupted, run: 1)
                try machines.letGo(try await machines.begun(on: "one"))
                try await daemon.ended(1)
                #expect(await daemon.stop() == 0)
            }
            let report = try await bench.report(1)
            #expect(report.verdict == .passed && report.attempt == 2 && report.machine == "one")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a run that waits when the daemon shuts down is queued again`() async throws {
        let source = Self.workflows(("a", #".on(.label("gpu"))"#, "cat file"))
        try await MachineBench.with(["one": ["gpu"]], workflows: source) { machines in
            let bench = machines.bench
            try machines.cut("one")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["file": "2\n"], "Two")
                #expect(try await bench.pipectl("notify").code == 0)
                try await daemon.event(.machineLost)
                try await eventually("the reason why it waits") {
                    try await machines.waits(1) != nil
                }
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.run(1).state == .queued)
            try machines.cut("one", false)
            try await bench.withDaemon { daemon in
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.report(1).machine == "one")
        }
    }

    /// The number of the only run of a workflow.
    private func run(_ workflow: String, _ bench: Bench) async throws -> RunID {
        var found: RunID?
        try await eventually("a run of \(workflow)") {
            found = try await bench.runs().first { $0.workflow == workflow }?.id
            return found != nil
        }
        guard let found else { throw Bench.Failure(description: "no run of \(workflow)") }
        return found
    }
}
