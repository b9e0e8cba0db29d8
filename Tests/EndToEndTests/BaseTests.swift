import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// What runs start from: warm workspaces of the target's own code, and nothing of another change.
///
/// A run leaves its snapshot after its verdict, so these tests wait until the daemon says that it has ended.
struct BaseTests {
    /// Prints whether an earlier run has built, and what it sees; builds once.
    private static let check = """
        if [ -f built/product ]; then echo "warm $(cat built/product)"; else echo cold; fi
        if [ -e leak ]; then echo "leak of another change"; exit 1; fi
        mkdir -p built; [ -f built/product ] || echo "by run $PIPECTL_RUN" > built/product
        echo "shared says $(cat shared.txt)"; git status --porcelain --untracked-files=no
        if [ -f results.xml ]; then echo "a result of another run"; exit 1; fi
        echo '<testsuite><testcase name="one" classname="all"/></testsuite>' > results.xml
        [ ! -f leaky ] || touch leak

        """

    private static let files = Workflows.test(
        #"Step("check", run: "sh check.sh").neverProved().testResults(.junit("results.xml"))"#,
        files: ["check.sh": check, "shared.txt": "one\n", "other.txt": "other\n"])

    private func log(_ bench: Bench, _ id: RunID) async throws -> String {
        try await bench.pipectl("logs", "\(id)").output
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change starts from its target's snapshot and leaves none`() async throws {
        try await Bench.with(BaseTests.files) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["other.txt": "first\n", "leaky": ""])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(try await log(bench, 1).contains("cold"))
                // Without a snapshot, the daemon makes one of the target in idle time.
                #expect(try await daemon.ended(2).verdict == .passed)
                #expect(try await bench.report(1).base == nil)
                #expect(try await bench.report(2).change == nil)

                try await bench.change(2, ["shared.txt": "two\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(3).verdict == .passed)
                let text = try await log(bench, 3)
                #expect(text.contains("warm by run 2") && text.contains("shared says two"), "\(text)")
                #expect(!text.contains("M shared.txt"), "the index is the tested commit's: \(text)")
                let base = try #require(try await bench.report(3).base)
                #expect(base.run == 2 && base.changedFiles == 1)
                #expect(try await bench.report(3).testCounts.total == 1)

                // When the target moves, its own run makes a new snapshot over the old one.
                try await bench.commit(["other.txt": "main\n"], "Main")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(4).verdict == .passed)
                #expect(try await bench.report(4).base?.run == 2)
                try await bench.change(3, ["new/file.txt": "new\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(5).verdict == .passed)
                #expect(try await bench.report(5).base?.run == 4)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a run that waits for approval does not prevent a warm-up run`() async throws {
        let files = [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) { Step("check", run: "cat a.txt") }
            let hold = Workflow("hold", on: .merge(into: "main")) { Step.approval("go") }
            @main struct Workflows: WorkflowSet { static let workflows = [test, hold] }

            """, "a.txt": "a\n",
        ]
        try await Bench.with(files) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["b.txt": "b\n"], "Main")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .passed)
                #expect(try await bench.run(1).upkeep == .warmUp)
                try await daemon.event(.stepNeedsApproval, run: 2)
                let held = try await bench.pipectl("show", "2").output
                #expect(held.contains("pipectl approve 2"), "\(held)")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a branch that passes warm and fails fresh gets a finding`() async throws {
        try await Bench.with([:]) { bench in
            // Simulates a forgotten build product: in a fresh workspace it fails as soon as `fail` exists.
            let line = "test -f built || ! test -f \(bench.meet)/fail; code=$?; touch built; exit $code"
            try await bench.commit(
                Workflows.test("Step(\"check\", run: \"\(line)\")", files: ["a.txt": "a\n"]), "Workflows")
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "b\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
                try await bench.commit(["b.txt": "b\n"], "Main")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(3).verdict == .passed)
                #expect(try await bench.report(3).base?.run == 2)
                // Its workspace is kept after its verdict.
                #expect(await daemon.stop() == 0)
            }
            try Data().write(to: URL(fileURLWithPath: "\(bench.meet)/fail"))
            try await bench.withDaemon("--refresh", "--clean-room", "0.0003") { daemon in
                #expect(try await daemon.ended(4).verdict == .failed)
                let found = try await bench.report(4)
                #expect(found.base == nil)
                let finding = try #require(found.findings.first { $0.rule == "warm-differs" })
                #expect(finding.message.contains("run 3 passed with the same tree"))
                try await bench.change(2, ["a.txt": "c\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(5).verdict == .failed, "no warm workspace hides it any more")
            }
        }
    }

    /// Otherwise every run would start from such a snapshot until the code changes.
    @Test(.timeLimit(.minutes(6)))
    func `merged code that fails warm is tested in a fresh workspace`() async throws {
        try await Bench.with(
            Workflows.test(
                #"Step("check", run: "mkdir once").neverProved()"#,
                on: #".pullRequest(into: "main"), .push(to: "main")"#, files: ["other.txt": "one\n"])
        ) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                for (run, verdict) in [(RunID(1), Verdict.passed), (2, .failed)] {
                    try await bench.commit(["other.txt": "\(run)\n"], "Main")
                    _ = try await bench.pipectl("notify")
                    #expect(try await daemon.ended(run).verdict == verdict)
                    #expect(try await bench.report(run).base?.run == (run == 1 ? nil : 1))
                }
                #expect(try await daemon.ended(3).verdict == .passed)
                #expect(try await bench.run(3).upkeep == .cleanBuild)
                let found = try await bench.report(3).findings.filter { $0.rule == "warm-differs" }
                #expect(found.count == 1 && found.first?.message.contains("run 2 failed with the same tree") == true)
                #expect(found.first?.message.contains("Removed 1 warm workspace of test on main") == true)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a release starts fresh, and a workflow for changes and branches leaves a snapshot`() async throws {
        let source = """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .merge(into: "main")) {
                Step("check", run: "test -f built && echo warm; touch built")
            }
            let release = Workflow("release", on: .merge(into: "main")) {
                Step("pack", run: "test -f built && echo warm; touch built")
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test, release] }

            """
        try await Bench.with(["workflows/x.swift": source, "a.txt": "a\n"]) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                for (number, runs) in [(1, [1, 2]), (2, [3, 4])] {
                    try await bench.commit(["a.txt": "\(number)\n"], "Merge \(number)")
                    _ = try await bench.pipectl("notify")
                    for run in runs { #expect(try await daemon.ended(RunID(run)).verdict == .passed) }
                }
                let reports = try await [bench.report(3), bench.report(4)]
                let test = try #require(reports.first { $0.workflow == "test" })
                let release = try #require(reports.first { $0.workflow == "release" })
                #expect(test.base != nil && release.base == nil)
                #expect(try await !log(bench, release.id).contains("warm"))
                #expect(try await bench.runs().count == 4, "no upkeep where the workflow's own runs leave a base")
            }
        }
    }

    /// A standby sandbox shows the folder that existed before the layers were tried.
    @Test(.timeLimit(.minutes(6)))
    func `a damaged snapshot is dropped and its run gets a checkout`() async throws {
        try await Bench.with(BaseTests.files) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["other.txt": "1\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
                // The first run that falls back leaves a standby sandbox, with which the second would start.
                for number in [2, 3] {
                    let bases = "\(bench.home)/bases"
                    for name in try FileManager.default.contentsOfDirectory(atPath: bases) {
                        try Data("damaged".utf8).write(to: URL(fileURLWithPath: "\(bases)/\(name)/index"))
                    }
                    try await bench.change(number, ["other.txt": "\(number)\n"])
                    _ = try await bench.pipectl("notify")
                    #expect(try await daemon.ended(RunID(number + 1)).verdict == .passed)
                    #expect(try await log(bench, RunID(number + 1)).contains("cold"))
                }
                try await daemon.event(.snapshotUnusable, run: 3)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a snapshot of code that the branch was moved back from is not used`() async throws {
        let source = """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .merge(into: "main")) {
                Step("check", run: "test ! -e product || cat product; cat a.txt >> product").neverProved()
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        try await Bench.with(["workflows/x.swift": source, "a.txt": "good\n"]) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                let good = try await bench.commit(["a.txt": "better\n"], "Better")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .passed)
                try await bench.commit(["a.txt": "bad\n"], "Bad")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
                #expect(try await bench.report(2).base?.run == 1)
                _ = try await bench.git(["reset", "-q", "--hard", good])
                try await bench.change(1, ["b.txt": "b\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await bench.pipectl("wait", "#1").output.contains("passed"))
                let run = try #require(try await bench.runs().first { $0.change == "1" })
                #expect(try await bench.report(run.id).base?.commit == good)
                #expect(try await !log(bench, run.id).contains("bad"))
                // Code above a commit that was moved away leaves snapshots as before.
                let next = try await bench.commit(["a.txt": "next\n"], "Next")
                _ = try await bench.pipectl("notify")
                #expect(try await bench.pipectl("wait", next).output.contains("passed"))
                let own = try #require(try await bench.runs().first { $0.head == next })
                try await daemon.ended(own.id)
                try await bench.change(2, ["c.txt": "c\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await bench.pipectl("wait", "#2").output.contains("passed"))
                let later = try #require(try await bench.runs().first { $0.change == "2" })
                #expect(try await bench.report(later.id).base?.commit == next)
            }
        }
    }

    /// The merged run leaves no products, and the snapshot of the commit before gets no newer by itself.
    @Test(.timeLimit(.minutes(6)))
    func `a proved run of the branch leaves a snapshot as well`() async throws {
        let source = """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .merge(into: "main")) {
                Step("check", run: "cat src/a.txt > product").inputs("src/**")
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        try await Bench.with(["workflows/x.swift": source, "src/a.txt": "a\n"]) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["src/a.txt": "b\n"], "Code")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .passed)
                let head = try await bench.commit(["docs.txt": "b\n"], "Documentation")
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
                #expect(try await daemon.ended(3).verdict == .passed)
                #expect(try await bench.report(3).base?.run == 1, "the box's own run of it is over the first")
                try await bench.change(1, ["src/a.txt": "c\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(4).verdict == .passed)
                #expect(try await bench.report(4).base?.commit == head)
            }
        }
    }

    /// Its run is not the first of its commit, and no merge requested it.
    @Test(.timeLimit(.minutes(6)))
    func `a missing snapshot is made again`() async throws {
        try await Bench.with(BaseTests.files) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["other.txt": "1\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
            }
            try FileManager.default.removeItem(atPath: "\(bench.home)/bases")
            try await bench.withDaemon("--refresh") { daemon in
                try await bench.change(2, ["other.txt": "2\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(3).verdict == .passed)
                #expect(try await log(bench, 3).contains("cold"))
                #expect(try await daemon.ended(4).verdict == .passed)
                #expect(try await bench.report(4).change == nil)
                try await bench.change(3, ["other.txt": "3\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(5).verdict == .passed)
                #expect(try await bench.report(5).base?.run == 4)
                #expect(try await bench.runs().count == 5)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `without space for snapshots every run starts fresh`() async throws {
        try await Bench.with(BaseTests.files) { bench in
            try await bench.withDaemon("--refresh", "--base-limit", "0") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["other.txt": "1\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .passed)
                // Without a run of the target the change could not be compared with it. It leaves no snapshot either.
                #expect(try await daemon.ended(2).verdict == .passed)
                #expect(try await bench.report(2).change == nil)
                try await bench.change(2, ["other.txt": "2\n"])
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(3).verdict == .passed)
                #expect(try await bench.report(3).comparison?.against == 2)
                for run in 1...3 {
                    #expect(try await bench.report(RunID(run)).base == nil)
                    #expect(try await log(bench, RunID(run)).contains("cold"))
                }
                #expect(try await bench.runs().count == 3, "what is known of the target is not run again")
                let bases = (try? FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/bases")) ?? []
                #expect(bases.isEmpty, "\(bases)")
            }
        }
    }
}
