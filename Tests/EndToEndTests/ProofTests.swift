import TestBasics
import Results
import Foundation
import Pipeline
import TestSupport
import Testing

/// Proofs with the built binary: which steps run again, and which do not.
@Suite(.timeLimit(.minutes(6))) struct ProofTests {
    /// `build` makes the files that `unit` needs; `all` reads the whole tree. Each run of a step leaves a line for the
    /// test.
    private static func files(_ meet: String, more: String = "") -> [String: String] {
        func said(_ name: String) -> String { "echo \(name) >> \(meet)/ran; chmod -f a+rw \(meet)/ran || true" }
        return [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .push(to: "main")) {
                let build = Step("build", run: "\(said("build")); mkdir -p out; cat src/a > out/a")
                    .inputs("src/**").outputs("out/**")
                build
                Step("unit", needs: build, run: "\(said("unit")); cat out/a tests/b; touch out/a out/new; cp tests/r.xml r.xml")
                    .inputs("src", "tests").testResults(.junit("r.xml")).artifacts("r.xml")
                Step("all", run: "\(said("all")); test ! -e broken")
                \(more)
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """,
            "src/a": "a\n", "tests/b": "b\n", "docs/c": "c\n",
            "tests/r.xml":
                "<testsuite name=\"S\"><testcase classname=\"S\" name=\"holds\" time=\"0.5\"/></testsuite>\n",
        ]
    }

    private func with(_ more: String = "", _ body: (Bench) async throws -> Void) async throws {
        try await Bench.with(["README.md": "begin\n"]) { bench in
            try await bench.commit(Self.files(bench.meet, more: more), "Workflows")
            _ = try await look(bench)
            try await body(bench)
        }
    }

    @discardableResult
    private func look(_ bench: Bench, sampling: String = "0", _ code: Int32 = 0) async throws -> String {
        let ended = try await bench.look("--proof-sampling", sampling)
        #expect(ended.code == code, "\(ended.output)\(ended.errors)")
        return ended.output
    }

    /// The steps that ran since the last call, sorted.
    private func ran(_ bench: Bench) throws -> [String] {
        let path = "\(bench.meet)/ran"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(atPath: path)
        return text.split(separator: "\n").map(String.init).sorted()
    }

    private func expect(
        _ bench: Bench, ran expected: [String], _ why: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let steps = try ran(bench)
        #expect(steps == expected, why, sourceLocation: sourceLocation)
    }

    /// Makes a new commit of the change's head.
    private func amend(
        _ bench: Bench, _ number: Int, _ files: [String: String] = [:], removing: [String] = [],
        onto base: String? = nil
    ) async throws {
        try await bench.git(["checkout", "-q", "--detach", "refs/pull/\(number)/head"])
        if let base { try await bench.git(["rebase", "-q", base]) }
        try bench.write(files)
        if !removing.isEmpty { try await bench.git(["rm", "-q"] + removing) }
        try await bench.git(["add", "-A"])
        try await bench.git(["commit", "-q", "--amend", "-m", "Another message \(UInt32.random(in: 0 ... .max))"])
        try await bench.git(["update-ref", "refs/pull/\(number)/head", "HEAD"])
        try await bench.git(["checkout", "-q", "main"])
    }

    @Test func `an amend, a rebase and a squash merge with the same tree are proved`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            try expect(bench, ran: ["all", "build", "unit"])

            try await amend(bench, 1)
            #expect(
                try await look(bench).contains("run 2  test  passed  3 of 3 steps passed, all proved by run 1"))
            try expect(bench, ran: [])
            let amended = try await bench.report(2)
            #expect(amended.steps.map(\.provedBy?.run) == [1, 1, 1])
            #expect(amended.testCounts.passed == 1, "the tests of the run that proved it")
            #expect(amended.artifacts.map(\.path) == ["r.xml"])
            #expect(amended.steps.allSatisfy { $0.attempts.isEmpty })

            // The target gets the same change: another merge with the same tree.
            try await bench.git(["merge", "-q", "--squash", "refs/pull/1/head"])
            try await bench.git(["commit", "-q", "-m", "Squashed"])
            #expect(
                try await look(bench).contains("run 3  test  passed  3 of 3 steps passed, all proved by run 1"))
            try expect(bench, ran: [])
            #expect(try await bench.report(3).trust == .merged)

            // Landed code is valid for another change, so only the steps that this change affects run.
            try await bench.change(2, ["docs/c": "other\n"])
            try await look(bench)
            try expect(bench, ran: ["all"])
            try await bench.commit(["docs/d": "d\n"], "Main moves")
            try await look(bench)
            _ = try ran(bench)
            try await amend(bench, 2, onto: "main")
            try await look(bench)
            try expect(bench, ran: ["all"])
            let rebased = try await bench.run(6)
            #expect(rebased.verdict == .passed && rebased.testCounts.passed == 1)
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    @Test func `a changed input runs its steps with the outputs of proved ones`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            _ = try ran(bench)
            try await amend(bench, 1, ["docs/c": "c2\n"])
            try await look(bench)
            try expect(bench, ran: ["all"], "documentation is no input of the others")
            try await amend(bench, 1, ["tests/b": "b2\n"])
            try await look(bench)
            try expect(bench, ran: ["all", "unit"])
            #expect(
                try await bench.pipectl("logs", "3", "unit").output == "a1\nb2\n", "what build made was put in place")
            #expect(try await bench.pipectl("logs", "3", "build").errors.contains("run 1 proved it"))
            try await amend(bench, 1, ["src/a": "a2\n"])
            try await look(bench)
            try expect(bench, ran: ["all", "build", "unit"])
            #expect(try await bench.pipectl("logs", "4", "unit").output == "a2\nb2\n")
        }
    }

    @Test func `of tests that share a build only those with changed inputs run`() async throws {
        let steps = ["one", "two"].map { name in
            """
            Step("\(name)", needs: make, run: "echo \(name) >> $MEET/ran; chmod -f a+rw $MEET/ran || true; cat made/all").inputs(only: "src", "tests/\(name)").outputs()
            """
        }
        let more = """
            let make = Step("make", run: "mkdir -p made; cat src/a tests/*/t > made/all").inputs("src", "tests")
            make
            """
        try await Bench.with(["README.md": "begin\n"]) { bench in
            let both = (more + "\n" + steps.joined(separator: "\n")).replacing("$MEET", with: bench.meet)
            try await bench.commit(
                Self.files(bench.meet, more: both).merging(["tests/one/t": "1\n", "tests/two/t": "2\n"]) { $1 },
                "Workflows")
            try await look(bench)
            try await bench.commit(["tests/one/t": "11\n"], "Changes the tests of one")
            try await look(bench)
            _ = try ran(bench)
            try await bench.commit(["tests/two/t": "22\n"], "Changes the tests of two")
            try await look(bench)
            try expect(bench, ran: ["all", "two", "unit"], "but for what only `make` reads, `one` is the same")
            let report = try await bench.report(2)
            #expect(report.steps.first { $0.name == "one" }?.provedBy?.run == 1)
            #expect(report.steps.first { $0.name == "make" }?.provedBy == nil)
            #expect(try await bench.pipectl("logs", "2", "two").output == "a\n11\n22\n")
            try await bench.commit(["src/a": "aa\n"], "Changes what both read")
            try await look(bench)
            try expect(bench, ran: ["all", "build", "one", "two", "unit"])
        }
    }

    @Test func `tracked files among the outputs always belong to the tested commit`() async throws {
        let steps = """
            let made = Step("made", run: "mkdir -p gen; cp src/a gen/a").inputs("src/**").outputs("gen/**")
            made
            Step("hand", needs: made, run: "cat gen/hand; ! grep -q BROKEN gen/hand").inputs("gen/hand")
            """
        try await with(steps) { bench in
            try await bench.commit(["gen/hand": "fine\n", "gen/old": "old\n"], "Files")
            try await look(bench)
            try await bench.change(1, ["gen/hand": "BROKEN\n"])
            try await look(bench, 1)
            let broken = try await bench.runs()[0].id
            #expect(try await bench.pipectl("logs", "\(broken)", "hand").output == "BROKEN\n")
            #expect(try await bench.pipectl("plan", "test", "--change", "1", "--why").output.contains("gen/hand"))
            // A removed file does not come back.
            try await bench.git(["checkout", "-q", "-b", "gone"])
            try await bench.git(["rm", "-q", "gen/old"])
            try await bench.commit(["gen/hand": "fine\n", "tests/b": "b\n"], "Gone")
            try await bench.git(["update-ref", "refs/pull/2/head", "HEAD"])
            try await bench.git(["checkout", "-q", "main"])
            try await look(bench)
            let gone = try await bench.runs()[0].id
            #expect(try await bench.report(gone).steps.first { $0.name == "made" }?.provedBy == nil)
        }
    }

    @Test func `a proof of one change is not used for another change`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "same\n"])
            try await look(bench)
            _ = try ran(bench)
            try await bench.change(2, ["src/a": "same\n"])
            try await look(bench)
            try expect(bench, ran: ["all", "build", "unit"])
        }
    }

    @Test func `neither a failure nor a rerun is a proof`() async throws {
        try await with { bench in
            try await bench.change(1, ["broken": "x\n"])
            try await look(bench, 1)
            try expect(bench, ran: ["all", "build", "unit"])
            try await amend(bench, 1)
            try await look(bench, 1)
            try expect(bench, ran: ["all"], "what failed is run again, what passed is proved")
            try await amend(bench, 1)
            #expect(try await bench.look("--no-proofs").code == 1)
            try expect(bench, ran: ["all", "build", "unit"])
            #expect(try await bench.pipectl("rerun", "2").code == 1)
            try expect(bench, ran: ["all", "build", "unit"], "who says rerun wants it run")
            #expect(try await bench.pipectl("rerun", "2", "--proofs").code == 1)
            try expect(bench, ran: ["all"])
            #expect(try await bench.pipectl("run", "test", "--change", "1", "--no-proofs").code == 1)
            try expect(bench, ran: ["all", "build", "unit"])
            #expect(try await bench.pipectl("run", "test", "--change", "1", "--step", "unit").code == 0)
            try expect(bench, ran: [], "a part of the plan has the keys of the whole")
        }
    }

    @Test func `steps that depend on more than files run each time`() async throws {
        let more = """
            Step("time", run: "echo time >> $MEET/ran").neverProved()
            Step("net", run: "echo net >> $MEET/ran").network(.allowed)
            Step("secret", run: "echo secret >> $MEET/ran").secrets("TOKEN")
            Step("commit", run: "echo commit >> $MEET/ran; echo $PIPECTL_COMMIT")
            """
        try await Bench.with(["README.md": "begin\n"]) { bench in
            try await bench.commit(
                Self.files(bench.meet, more: more.replacing("$MEET", with: bench.meet)), "Workflows")
            _ = try await look(bench)
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            _ = try ran(bench)
            try await amend(bench, 1)
            try await look(bench)
            try expect(bench, ran: ["commit", "net", "secret", "time"])
            let plan = try await bench.command(
                [Bench.pipectl, "plan", "test", "--why", "--change", "1"], in: bench.repository)
            for words in ["it declares .neverProved()", "declares no .inputs", "it gets secrets"] {
                #expect(plan.output.contains(words), "\(plan.output)\(plan.errors)")
            }
        }
    }

    @Test func `a sample finds a step that reads more than it declares`() async throws {
        let more = """
            Step("liar", run: "echo liar >> $MEET/ran; test ! -e $MEET/bad").inputs("src/**")
            """
        try await Bench.with(["README.md": "begin\n"]) { bench in
            try await bench.commit(
                Self.files(bench.meet, more: more.replacing("$MEET", with: bench.meet)), "Workflows")
            _ = try await look(bench)
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            // It is outside of the tree: a change with undeclared files of its own does not refute others' proofs.
            try "x".write(toFile: bench.meet + "/bad", atomically: true, encoding: .utf8)
            try await amend(bench, 1)
            _ = try ran(bench)
            try await look(bench)
            try expect(bench, ran: [], "the proof is wrong and nobody knows")
            try await amend(bench, 1)
            try await look(bench, sampling: "1", 1)
            try expect(bench, ran: ["all", "build", "liar", "unit"])
            let report = try await bench.pipectl("report", "3").output
            #expect(report.contains("step \"liar\" failed although run 1 had proved it"), "\(report)")
            #expect(report.contains("pipectl proofs trust liar"))
            let caught = try await bench.report(3)
            #expect(caught.findings.first?.rule == "proof-wrong")
            #expect(caught.verdict == .failed)
            let listed = try await bench.pipectl("proofs")
            #expect(
                listed.output.contains("not trusted: it failed in run 3 although run 1 had proved it"),
                "\(listed.output)")

            try await amend(bench, 1)
            try await look(bench, 1)
            try expect(bench, ran: ["liar"], "it is run each time now, the others are believed")
            #expect(try await bench.pipectl("proofs", "trust", "liar").code == 0)
            #expect(try await bench.pipectl("proofs", "trust", "liar").code == 2)
            #expect(try await bench.pipectl("proofs").output.contains("not trusted") == false)
        }
    }

    /// Like a `GNUmakefile` beside the declared `Makefile`: head A passes because of a file that no step declares, and
    /// head B removes it again.
    @Test func `an earlier head can't prove a later one by an undeclared file`() async throws {
        let more = """
            let made = Step("made", run: "echo made >> $MEET/ran; mkdir -p dist; if test -e hidden; then . ./hidden; else . ./src/make; fi")
                .inputs("src/**").outputs("dist/**")
            made
            Step("pack", needs: made, run: "cp dist/a packed").neverProved().artifacts("packed")
            """
        try await Bench.with(["README.md": "begin\n"]) { bench in
            var files = Self.files(bench.meet, more: more.replacing("$MEET", with: bench.meet))
            files["src/make"] = "echo good > dist/a\n"
            try await bench.commit(files, "Workflows")
            _ = try await look(bench)
            let broken = ["src/make": "echo good > dist/a; exit 1\n"]
            try await bench.change(1, broken.merging(["hidden": "echo POISON > dist/a\n"]) { $1 })
            try await look(bench)
            _ = try ran(bench)
            try await amend(bench, 1, removing: ["hidden"])
            try await look(bench, 1)
            try expect(bench, ran: ["all", "build", "made", "unit"], "none of head A's proofs counts")
            let report = try await bench.report(2)
            #expect(report.steps.first { $0.name == "made" }?.status == .failed)
            #expect(report.artifacts.allSatisfy { $0.step != "pack" })
            #expect(report.findings.contains { $0.rule == "passed-undeclared" && $0.file == "hidden" })
            #expect(report.findings.allSatisfy { $0.rule != "proof-wrong" })
            #expect(try await bench.pipectl("proofs").output.contains("not trusted") == false)

            // The rest of the change is honest, so its proofs are valid for its later heads.
            try await amend(bench, 1, ["src/make": "echo better > dist/a\n"])
            try await look(bench)
            _ = try ran(bench)
            try await amend(bench, 1, ["docs/c": "c2\n"])
            try await look(bench)
            try expect(bench, ran: ["all"])
            #expect(try await bench.report(4).steps.first { $0.name == "made" }?.provedBy?.run == 3)
        }
    }

    @Test func `a release uses proofs of its change only for steps with declared inputs`() async throws {
        try await Bench.with(["README.md": "begin\n"]) { bench in
            func said(_ name: String) -> String {
                "echo \(name) >> \(bench.meet)/ran; chmod -f a+rw \(bench.meet)/ran || true"
            }
            let workflows = """
                import Pipeline

                let declared = Step("declared", run: "\(said("declared")); mkdir dist; cat src/a > dist/a")
                    .inputs("src/**").outputs("dist/**").idempotent()
                let test = Workflow("test", on: .pullRequest(into: "main")) {
                    declared
                    Step("whole", run: "\(said("whole"))")
                }
                let release = Workflow("release", on: .merge(into: "main")) {
                    declared
                    Step("whole", run: "\(said("whole"))")
                    Step("publish", needs: declared, run: "\(said("publish")); cat dist/a")
                }
                @main struct Workflows: WorkflowSet { static let workflows = [test, release] }

                """
            try await bench.commit(["workflows/x.swift": workflows, "src/a": "a\n"], "Workflows")
            try await look(bench)
            try await bench.change(1, ["src/a": "shipped\n"])
            try await look(bench)
            try expect(bench, ran: ["declared", "whole"])
            try await bench.git(["merge", "-q", "--squash", "refs/pull/1/head"])
            try await bench.git(["commit", "-q", "-m", "Squashed"])
            try await look(bench)
            try expect(bench, ran: ["publish", "whole"])
            let released = try await bench.report(2)
            #expect(released.workflow == "release" && released.verdict == .passed)
            #expect(released.mergedChanges.map(\.name) == ["1"])
            #expect(released.steps.map(\.provedBy?.run) == [1, nil, nil])
            #expect(try await bench.pipectl("logs", "2", "publish").output == "shipped\n")
        }
    }

    @Test func `plan shows which run proves a step, or what changed`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            try await amend(bench, 1, ["tests/b": "b2\n", "docs/c": "c2\n"])
            try await bench.withDaemon { daemon in
                // The daemon's first observation finds the new head and runs it; until then it is compared with run 1.
                let text = try await bench.pipectl("plan", "test", "--why", "--ref", "main").output
                #expect(text.contains("always run") == false)
                #expect(text.contains("3 of 3 steps would run"), "\(text)")
                #expect(await daemon.stop() == 0)
            }
            _ = try await look(bench)
            try await amend(bench, 1, ["tests/b": "b3\n"])
            let ended = try await bench.command(
                [Bench.pipectl, "plan", "test", "--why", "--change", "1", "--json"], in: bench.repository)
            struct Reason: Decodable { var step: String, standing: String, paths: [String], parts: [String] }
            let reasons = try JSONDecoder().decode([Reason].self, from: Data(ended.output.utf8))
            #expect(reasons.map(\.step) == ["build", "unit", "all"])
            // Without --shared, which the earlier runs had: for build that is the only difference.
            #expect(reasons[0].standing == "changed" && reasons[0].parts == ["box"])
            #expect(reasons[1].paths == ["tests/b"])
            #expect(Set(reasons[2].parts) == ["inputs", "box"])
            #expect(try await bench.git(["for-each-ref", "refs/pipectl"]).isEmpty)
        }
    }

    @Test func `proofs are removed with the run that made them`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            // The newest run of an open change stays, so the proof must come from an earlier one.
            try await amend(bench, 1)
            try await look(bench)
            try await bench.change(2, ["src/a": "a2\n"])
            try await look(bench)
            _ = try ran(bench)
            let collected = try await bench.pipectl("gc", "--max-runs", "1")
            #expect(collected.code == 0, "\(collected.errors)")
            try await amend(bench, 1)
            try await look(bench)
            try expect(bench, ran: ["all", "build", "unit"])
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    @Test func `every report format names the run that proved a step`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            try await amend(bench, 1)
            try await look(bench)
            for format in ["text", "markdown", "html", "junit"] {
                let text = try await bench.pipectl("report", "2", "--format", format).output
                #expect(text.contains("proved by run 1"), "\(format)")
                #expect(text.contains("holds") || format != "junit", "the test is in it")
            }
            #expect(try await bench.pipectl("show", "2").output.contains("proved by run 1"))
        }
    }

    @Test func `a script sees only variables of the key, and a failing rerun refutes the proof`() async throws {
        let more = """
            Step("script", run: "sh ci.sh")
            Step("named", run: "sh ci.sh # PIPECTL_EVENT")
            Step("free", run: "sh ci.sh").neverProved()
            Step("liar", run: "test ! -e $MEET/bad").inputs("src/**")
            """
        try await Bench.with(["ci.sh": "echo \"event [$PIPECTL_EVENT] run [$PIPECTL_RUN]\"\n"]) { bench in
            try await bench.commit(
                Self.files(bench.meet, more: more.replacing("$MEET", with: bench.meet)), "Workflows")
            _ = try await look(bench)
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            #expect(try await bench.pipectl("logs", "1", "script").output == "event [] run []\n")
            #expect(try await bench.pipectl("logs", "1", "named").output == "event [pullRequest] run []\n")
            #expect(try await bench.pipectl("logs", "1", "free").output == "event [pullRequest] run [1]\n")

            try Data().write(to: URL(fileURLWithPath: "\(bench.meet)/bad"))
            #expect(try await bench.pipectl("rerun", "1").code == 1)
            let failed = try await bench.report(2)
            #expect(failed.steps.first { $0.name == "liar" }?.refutes?.proof.run == 1, "no sample, and it tells")
            #expect(failed.steps.filter { $0.refutes != nil }.count == 1)
        }
    }

    @Test func `merged code uses a change's proof only for the same tree`() async throws {
        try await with { bench in
            try await bench.change(1, ["src/a": "a1\n"])
            try await look(bench)
            try await bench.commit(["docs/d": "d\n"], "Main moves")
            _ = try await bench.look("--no-proofs")
            _ = try ran(bench)
            // The same inputs of build and unit, in a tree that was not tested with the change.
            try await bench.git(["merge", "-q", "--squash", "refs/pull/1/head"])
            try await bench.git(["commit", "-q", "-m", "Squashed", "-m", "#1"])
            try bench.write(["docs/c": "also\n"])
            try await bench.git(["commit", "-q", "-a", "--amend", "--no-edit"])
            try await look(bench)
            try expect(bench, ran: ["all", "build", "unit"])
        }
    }

    @Test func `outputs of a proved step are restored over a snapshot`() async throws {
        try await with { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await bench.commit(["src/a": "main\n"], "Main")
                _ = try await bench.pipectl("notify")
                try await daemon.ended(1)
                try await bench.change(1, ["src/a": "a1\n"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(2)
                try await amend(bench, 1, ["tests/b": "b2\n"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(3)
                #expect(try await bench.report(3).base != nil, "it began from the workspace of main")
                #expect(try await bench.report(3).steps.map(\.provedBy?.run) == [2, nil, nil])
                // The snapshot has what main's run made there.
                #expect(try await bench.pipectl("logs", "3", "unit").output == "a1\nb2\n")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a run with another user reads a value, whose publisher runs for it`() async throws {
        let steps = """
            let v = Value<String>("v")
            let say = Step("say", run: #"printf '"%s"' $(cat src/a) > $PIPECTL_VALUES_OUT/v.json"#)
                .inputs("src").publishes(v).outputs()
            say
            Step("shell", needs: say, run: "cat $PIPECTL_VALUES_IN/v.json").inputs("tests").reads(v)
            Step("closure", needs: say) { step in step.log(try step.value(of: v)) }.inputs("tests").reads(v)
            """
        try await with(steps) { bench in
            try await bench.commit(["src/a": "one\n"], "First")
            try await look(bench)
            try await bench.commit(["tests/b": "other\n"], "What the readers read")
            try await look(bench)
            for run in ["1", "2"] {
                #expect(try await bench.pipectl("logs", run, "shell").output == "\"one\"")
                #expect(try await bench.pipectl("logs", run, "closure").output == "one\n")
            }
            #expect(try await bench.report(2).steps.first { $0.name == "say" }?.provedBy == nil, "run for its value")
        }
    }

    /// Makes a commit on main for each list of files, and waits until the run of each has left its workspace: 1, 2 and
    /// so on.
    private func land(_ bench: Bench, _ daemon: Bench.Daemon, _ commits: [String]...) async throws {
        for (number, files) in commits.enumerated() {
            try await bench.commit(Dictionary(uniqueKeysWithValues: files.map { ($0, "\(number + 1)\n") }), "Main")
            _ = try await bench.pipectl("notify")
            try await daemon.ended(RunID(number + 1))
        }
    }

    @Test func `a proof that is wrong everywhere leaves the snapshots alone`() async throws {
        // It reads a file that it does not declare.
        let steps = """
            Step("lie", run: "cat tests/b; test ! -e src/hidden").inputs(only: "tests").outputs()
            """
        try await with(steps) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await land(bench, daemon, ["src/b"], ["src/hidden"])
                let warm = try await bench.report(2)
                #expect(warm.verdict == .passed && warm.base?.run == 1)
                #expect(warm.steps.last?.provedBy?.run == 1)
                _ = try await bench.pipectl("rerun", "2", "--clean")
                #expect(try await daemon.ended(3).verdict == .failed)
                #expect(try await bench.report(3).findings.map(\.rule) == ["proof-wrong"])
                try await bench.change(1, ["src/a": "a1\n"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(4)
                #expect(try await bench.report(4).base?.run == 2, "the workspaces are kept")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a proof that only a warm workspace made drops the snapshots`() async throws {
        // It passes in every workspace in which it has run before, whatever it reads.
        let steps = """
            Step("check", run: "test -e built || test ! -e tests/fail; code=$?; touch built; exit $code")
                .inputs("tests").outputs()
            """
        try await with(steps) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await land(bench, daemon, ["src/b"], ["src/c", "tests/fail"], ["src/d"])
                #expect(try await bench.report(2).base?.run == 1)
                let warm = try await bench.report(3)
                #expect(warm.verdict == .passed && warm.base?.run == 2)
                #expect(warm.steps.last?.provedBy?.run == 2)
                _ = try await bench.pipectl("rerun", "3", "--clean")
                #expect(try await daemon.ended(4).verdict == .failed)
                #expect(try await bench.report(4).findings.contains { $0.rule == "warm-differs" })
                #expect(await daemon.stop() == 0)
            }
        }
    }

    /// Otherwise a workflow with a step that is always proved would run twice for each commit of its target.
    @Test(arguments: [true, false])
    func `a run with a proved step without outputs leaves a snapshot`(leavesNothing: Bool) async throws {
        let step = #"Step("lint", run: "cat docs/c").inputs("docs/**")"# + (leavesNothing ? ".outputs()" : "")
        try await with(step) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                // All other steps read these files.
                try await land(bench, daemon, ["src/a"], ["src/b"])
                #expect(try await bench.report(2).steps.map(\.provedBy?.run) == [nil, nil, nil, 1])
                if !leavesNothing {
                    #expect(try await daemon.ended(3).verdict == .passed)
                    #expect(try await bench.report(3).steps.allSatisfy { $0.provedBy == nil }, "the box's own")
                }
                try await bench.change(1, ["src/a": "a1\n"])
                _ = try await bench.pipectl("notify")
                let run: RunID = leavesNothing ? 3 : 4
                try await daemon.ended(run)
                #expect(try await bench.report(run).base?.run == run - 1)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    /// The findings of tools are in the report of each run that uses the proof.
    @Test func `files of a snapshot at a proved step's outputs are removed`() async throws {
        let more = """
            let copy = Step("copy", run: "rm -rf bin; mkdir bin; cp src/* bin; echo src/a.c:1:1: warning: odd")
                .inputs("src/**").outputs("bin/**").findings(.output)
            copy
            Step("list", needs: copy, run: "ls bin").inputs("src/**", "docs/**")
            """
        try await with(more) { bench in
            try await bench.withDaemon("--refresh") { daemon in
                try await bench.commit(["src/b": "b\n"], "Main")
                _ = try await bench.pipectl("notify")
                try await daemon.ended(1)
                try await bench.git(["checkout", "-q", "-b", "topic"])
                try await bench.git(["rm", "-q", "src/b"])
                try await bench.git(["commit", "-q", "-m", "Less"])
                try await bench.git(["update-ref", "refs/pull/1/head", "HEAD"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(2)
                try await bench.commit(["docs/d": "d\n"], "More")
                try await bench.git(["update-ref", "refs/pull/1/head", "HEAD"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(3)
                for run: RunID in [2, 3] {
                    let report = try await bench.report(run)
                    #expect(report.base != nil)
                    #expect(report.steps.first { $0.name == "copy" }?.provedBy?.run == (run == 2 ? nil : 2))
                    #expect(try await bench.pipectl("logs", "\(run)", "list").output == "a\n")
                    #expect(report.findings.filter { $0.step == "copy" }.map(\.message) == ["odd"])
                }
                let why = try await bench.pipectl("plan", "test", "--change", "1", "--why").output
                #expect(why.contains("copy   not run: proved by run 2"), "\(why)")
                #expect(await daemon.stop() == 0)
            }
            try await bench.withDaemon("--no-proofs") { _ in
                let why = try await bench.pipectl("plan", "test", "--change", "1", "--why").output
                #expect(!why.contains("proved by") && why.contains("--no-proofs"), "\(why)")
            }
        }
    }
}
