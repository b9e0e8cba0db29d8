import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Steps that exceed their limits, in the real sandbox.
@Suite struct LimitTests {
    static let steps = """
        Step("memory", run: "head -c 300M /dev/zero | tail -c 300M > /dev/null").limits(.memory(.mebibytes(64)))
            Step("processes", run: "i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i + 1)); done; wait")
                .limits(.processes(20))
            Step("time", run: "while :; do :; done").limits(.cpuTime(.seconds(1)))
            Step("file", run: "head -c 9M /dev/zero > big").limits(.fileSize(.mebibytes(5)))
            Step("output", run: "yes").limits(.output(.mebibytes(5)))
            Step("workspace", run: "while :; do head -c 4M /dev/zero >> grown; done").limits(.workspace(.mebibytes(90)))
            Step("modest", run: "echo fine").limits(.memory(.mebibytes(64)), .processes(20), .output(.mebibytes(5)))
        """

    @Test(.timeLimit(.minutes(6)))
    func `a limit that a step reaches is the reason for its failure`() async throws {
        try await Bench.with(Workflows.test(Self.steps)) { bench in
            #expect(try await bench.pipectl("run", "test", "--minimum-free", "0").code == 1)
            let report = try await bench.pipectl("report", "1", "--format", "json").output
            for reason in [
                "CPU time: 1 s limit reached by step time", "file size: 5.0 MiB limit reached by step file",
                "output: 5.0 MiB limit reached by step output",
                "workspace: 90.0 MiB limit reached by step workspace",
            ] {
                #expect(report.contains(reason), "\(report)")
            }
            // Only control groups can distinguish these from any other failure.
            let doctor = try await bench.pipectl("doctor").output
            if doctor.contains("cgroup v") {
                #expect(report.contains("memory: 64.0 MiB limit reached by step memory"))
                #expect(report.contains("processes: 20 limit reached by step processes"))
            }
            let run = try await bench.run(1)
            #expect(run.stepCounts.passed == 1, "the modest one")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the limits of a run apply to all its steps together`() async throws {
        let steps = "for name in [\"a\", \"b\"] { Step(name, run: \"yes | head -c 8M\") }"
        try await Bench.with(Workflows.test(steps)) { bench in
            let options = ["--run-limit", "output=10", "--minimum-free", "0"]
            let ended = try await bench.command([Bench.pipectl, "run", "test"] + options, in: bench.repository)
            #expect(ended.code == 1)
            #expect(ended.output.contains("output: 10.0 MiB limit reached by the run"), "\(ended.output)")
            let wall = ["--run-limit", "wall-time=1", "--minimum-free", "0"]
            try await bench.commit(Workflows.test("Step(\"slow\", run: \"sleep 60\")"), "Slow")
            let late = try await bench.command([Bench.pipectl, "run", "test"] + wall, in: bench.repository)
            #expect(late.code == 1)
            #expect(late.output.contains("wall time: 1 s limit reached by the run"), "\(late.output)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `merged code writes a cache and a change only reads it`() async throws {
        let source = """
            import Pipeline
            let test = Workflow("test", on: .pullRequest(into: "main"), .push(to: "main")) {
                Step("use", run: "sh use.sh").neverProved().cache("tools", at: "~/.cache/tools")
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }
            """
        let use = "cat ~/.cache/tools/who 2>&1; echo $PIPECTL_BRANCH > ~/.cache/tools/who && echo kept"
        try await Bench.with(["workflows/x.swift": source, "use.sh": use + " || echo refused\n"]) { bench in
            _ = try await bench.look()
            try await bench.commit(["a.txt": "a\n"], "Merged")
            #expect(try await bench.look().code == 0)
            #expect(try await bench.pipectl("logs", "1").output.hasSuffix("kept\n"))
            try await bench.change(1, ["b.txt": "b\n"])
            #expect(try await bench.look().code == 0)
            let change = try await bench.pipectl("logs", "2").output
            #expect(change.hasPrefix("main\n") && change.hasSuffix("refused\n"), "\(change)")
            try await bench.commit(["c.txt": "c\n"], "Merged again")
            #expect(try await bench.look().code == 0)
            #expect(try await bench.pipectl("logs", "3").output == "main\nkept\n")
        }
    }
}
