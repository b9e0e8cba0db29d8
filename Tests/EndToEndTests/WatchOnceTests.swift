import DaemonLog
import TestBasics
import Results
import Foundation
import Pipeline
import TestSupport
import Testing

/// `watch --once` with the built binary: the runs that an observation starts, and the output about each change.
struct WatchOnceTests {
    @Test(.timeLimit(.minutes(6)))
    func `each change gets its verdict, and the first observation starts nothing`() async throws {
        try await Bench.with { bench in
            try await bench.change(1, ["a.txt": "a\n"])
            let baseline = try await bench.look()
            #expect(baseline.code == 0)
            #expect(baseline.errors.contains("baseline of 2 refs, 1 changes"))
            #expect(try await bench.runs().isEmpty)

            try await bench.change(2, ["b.txt": "b\n"])
            let good = try await bench.look()
            #expect(good.code == 0, "\(good.errors)")
            #expect(good.output.contains("run 1  test  passed"))
            #expect(try await bench.look().errors.contains("nothing to run"), "the same push is not tested twice")

            try await bench.change(3, ["check.sh": "echo the check failed; exit 3\n"])
            let failing = try await bench.look()
            #expect(failing.code == 1)
            #expect(failing.errors.contains("see `pipectl report 2`"))

            let base = try await bench.git(["rev-parse", "main"])
            try await bench.commit(["shared.txt": "ours\n"], "Ours")
            _ = try await bench.look()
            try await bench.change(4, ["shared.txt": "theirs\n"], from: base)
            let conflict = try await bench.look()
            #expect(conflict.code == 1)
            #expect(conflict.output.contains("conflict  it conflicts with main in shared.txt"))
            #expect(conflict.output.contains("Merge or rebase onto main and push again."))

            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.conflict, .passed, .failed, .passed])
            #expect(runs.map(\.workflow) == ["test", "release", "test", "test"])
            #expect(runs.first?.stepCounts == StepCounts(), "a conflict needs no step")
            let failed = try await bench.pipectl("runs", "--json", "--verdict", "failed", "--change", "3")
            #expect(failed.code == 0)
            #expect(failed.output.contains("\"change\" : \"3\""))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a run without space on the disk waits and is reported`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            let full = try await bench.look("--minimum-free", "999999999")
            #expect(full.code == 8, "\(full.errors)")
            #expect(full.errors.contains("run 1 waits: the disk of"), "\(full.errors)")
            #expect(!full.errors.contains("nothing to run"))
            let after = try await bench.look()
            #expect(after.code == 0, "\(after.errors)")
            #expect(after.output.contains("run 1  test  passed"))
            let refused = try await bench.look("--minimum-free", "9223372036854775807")
            #expect(refused.code == 2 && refused.errors.contains("for '--minimum-free <size>'"), "\(refused.errors)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `each run has a line in the run log, and gets its verdict without it`() async throws {
        try await Bench.with { bench in
            let log = "\(bench.root)/runs.tsv"
            _ = try await bench.look("--run-log", log)
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look("--run-log", log).code == 0)
            try FileManager.default.moveItem(atPath: log, toPath: "\(log).1")
            try await bench.change(2, ["check.sh": "exit 3\n"])
            #expect(try await bench.look("--run-log", log).code == 1)
            let lines = try [".1", ""].map { suffix in
                try String(contentsOfFile: log + suffix, encoding: .utf8).split(separator: "\n").map {
                    $0.split(separator: "\t").map(String.init)
                }
            }
            #expect(
                lines.map { $0.map { Array($0.dropLast()) } } == [
                    [["1", "repo", "test", "change 1 into main", "passed"]],
                    [["2", "repo", "test", "change 2 into main", "failed"]],
                ])
            for line in lines.joined() { #expect(try #require(Double(line.last ?? "")) > 0, "\(line)") }

            try await bench.change(3, ["b.txt": "b\n"])
            let unwritten = try await bench.look("--log-format", "json", "--run-log", "\(bench.root)/none/runs.tsv")
            #expect(unwritten.code == 0, "\(unwritten.errors)")
            #expect(Bench.Daemon.events(in: unwritten.errors).filter { $0.code == .runLogFailed }.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a merge runs the release with the change that landed`() async throws {
        try await Bench.with { bench in
            let head = try await bench.change(5, ["a.txt": "a\n"])
            _ = try await bench.look()
            try await bench.git(["merge", "-q", "--no-ff", "-m", "Merge it", head])
            let merged = try await bench.look()
            #expect(merged.code == 0, "\(merged.errors)")
            let runs = try await bench.runs()
            #expect(runs.map(\.workflow) == ["release"])
            let log = try await bench.pipectl("logs", "1", "pack")
            #expect(log.output == "merged=5\n")
            let report = try await bench.pipectl("report", "1", "--format", "json")
            #expect(report.output.contains("dist/notes.txt"), "the artifact is in the archive")
            #expect(try await bench.pipectl("archive", "verify").code == 0)
            #expect(try await bench.pipectl("landed", "main").output.contains("5"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change that edits the workflows is tested by its target's definition`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            try await bench.change(
                6,
                [
                    "workflows/x.swift": Workflows.source("Step(\"easy\", run: \"true\")"),
                    "check.sh": "echo still checked; exit 1\n",
                ])
            #expect(try await bench.look().code == 1, "a change can't weaken its own gate")
            let report = try await bench.pipectl("report", "1")
            #expect(report.output.contains("the change edits workflows/x.swift"))
            #expect(report.output.contains("it was tested with the definition of main"))
            #expect(report.output.contains("it adds 1 step (easy), removes 2 (check, lint)"))
            #expect(!report.output.contains("✓ easy"), "nothing of it is run")
        }
    }
}
