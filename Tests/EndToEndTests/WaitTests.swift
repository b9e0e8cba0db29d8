import Results
import DaemonLog
import TestBasics
import Foundation
import Pipeline
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `wait`: before the commit is seen, at the first failure, behind others, across a restart, and its exit codes.
struct WaitTests {
    private static let results = """
        cat > out.xml <<X
        <testsuite name="S"><testcase classname="Calc" name="adds" file="Tests/Calc.swift" line="12">\
        <failure message="expected 5, got 4">Tests/Calc.swift:12</failure></testcase></testsuite>
        X

        """
    private static let steps = """
        Step("check", run: "sh check.sh").testResults(.junit("out.xml")).neverProved()
        Step("other", run: "sh other.sh").neverProved()
        """

    /// Waits for `subject` until the progress on standard error contains `text`, and interrupts the wait then.
    private func progress(of subject: String, _ bench: Bench, says text: String) async throws {
        let output = "\(bench.root)/progress-\(UInt32.random(in: 0 ... .max))-"
        let wait = try Child(
            [Bench.pipectl, "wait", subject, "--timeout", "600"], in: bench.repository, environment: bench.environment,
            output: output)
        defer { wait.kill() }
        try await eventually("\(text) in the progress of \(subject)") {
            let said = FileManager.default.contents(atPath: output + "2") ?? Data()
            return String(decoding: said, as: UTF8.self).contains(text)
        }
        wait.signal(SIGINT)
        #expect(await wait.end == 130)
    }

    private static func files(_ check: String = "", _ other: String = "") -> [String: String] {
        Workflows.test(steps, files: ["check.sh": check + "\n", "other.sh": other + "\n"])
    }

    /// A commit that no ref names yet.
    private func unpushed(_ bench: Bench, _ files: [String: String]) async throws -> String {
        let head = try await bench.change(9_999, files)
        try await bench.git(["update-ref", "-d", "refs/pull/9999/head"])
        return head
    }

    @Test(.timeLimit(.minutes(6)))
    func `wait ends at the first failure of a commit that was not seen before`() async throws {
        try await Bench.with(Self.files()) { bench in
            for name in ["other", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let head = try await unpushed(
                    bench, Self.files(Self.results + "exit 1", "echo up > \(bench.meet)/other; cat \(bench.meet)/go"))
                async let waited = bench.pipectl("wait", head)
                async let both = bench.pipectl("wait", head, "--until", "verdict", "--json")
                try await bench.git(["update-ref", "refs/pull/1/head", head])
                try await bench.arrival(at: "other")
                // The other step continues until the test lets it end, but the wait is over.
                let early = try await waited
                #expect(early.code == 1, "\(early.errors)")
                #expect(early.output.hasPrefix("**failed**\n"), "\(early.output)")
                #expect(early.output.contains("\nstep \"check\" failed"), "\(early.output)")
                #expect(early.output.contains("Calc/adds") && early.output.contains("Tests/Calc.swift:12"))
                #expect(early.output.contains("expected 5, got 4"), "\(early.output)")
                #expect(!early.errors.contains("expected 5"), "what it found is on standard output only")
                try await bench.release("go")
                let whole = try await both
                #expect(whole.code == 1, "\(whole.errors)")
                let answer = try JSONDecoder().decode(Answer.self, from: Data(whole.output.utf8))
                #expect(answer.verdict == "failed" && answer.exitCode == 1 && !answer.isEarly)
                #expect(answer.runs.map(\.verdict) == ["failed"])
                #expect(answer.bundle != nil)
            }
        }
    }

    private struct Answer: Decodable {
        struct Run: Decodable { var id: Int, verdict: String?, state: String }
        struct Anything: Decodable {}
        var verdict: String
        var exitCode: Int
        var reason: String
        var isEarly: Bool
        var runs: [Run]
        var notes: [String]
        var next: String?
        var bundle: Anything?
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change that existed at the first observation is reported as untested`() async throws {
        try await Bench.with(Self.files()) { bench in
            let head = try await bench.change(1, ["a.txt": "a\n"])
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let waited = try await bench.pipectl("wait", "#1", "--json", "--timeout", "60")
                #expect(waited.code == 7, "\(waited.output)\(waited.errors)")
                let answer = try JSONDecoder().decode(Answer.self, from: Data(waited.output.utf8))
                #expect(answer.verdict == "notApplicable" && answer.runs.isEmpty, "\(waited.output)")
                #expect(waited.output.contains("pipectl run WORKFLOW --change 1"), "\(waited.output)")
                #expect(waited.output.contains(head))
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `all workflows of a commit count`() async throws {
        let two = """
            import Pipeline
            let one = Workflow("one", on: .pullRequest(into: "main")) { Step("a", run: "true") }
            let two = Workflow("two", on: .pullRequest(into: "main")) { Step("b", run: "sh check.sh") }
            @main struct Workflows: WorkflowSet { static let workflows = [one, two] }

            """
        try await Bench.with(["workflows/x.swift": two, "check.sh": ""]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let good = try await bench.change(1, ["a.txt": "a"])
                let passed = try await bench.pipectl("wait", good)
                #expect(passed.code == 0, "\(passed.output)\(passed.errors)")
                #expect(passed.output.contains("Other runs"), "\(passed.output)")
                let bad = try await bench.change(2, ["check.sh": "exit 3\n"])
                let failed = try await bench.pipectl("wait", bad)
                #expect(failed.code == 1 && failed.output.contains("two"), "\(failed.output)")
                // By its number, its change, and the folder in which it is checked out.
                #expect(try await bench.pipectl("wait", "#2").code == 1)
                #expect(try await bench.pipectl("wait", "#1").code == 0)
                try await bench.git(["checkout", "-q", bad])
                #expect(try await bench.pipectl("wait").code == 1)
                try await bench.git(["checkout", "-q", "main"])
                let main = try await bench.pipectl("wait")
                #expect(main.code == 7 && main.output.contains("not applicable"), "\(main.output)\(main.errors)")
                let unknown = try await bench.pipectl("wait", "4711")
                #expect(unknown.code == 2 && unknown.errors.contains("4711"))
                // A rerun's verdict counts; that of another run by hand doesn't.
                #expect(try await bench.pipectl("run", "one", "--ref", bad).code == 0)
                #expect(try await bench.pipectl("wait", bad).code == 1)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `filters decide what starts, and plan and wait say so`() async throws {
        let workflows = """
            import Pipeline
            let test = Workflow("test", on: .pullRequest(into: "main", ignoringMessages: ["[skip ci]"])) {
                Step("a", run: "true")
            }
            let deploy = Workflow("deploy", on: .push(to: "main", messages: ["[deploy]"])) { Step("b", run: "true") }
            let docs = Workflow("docs", on: .push(to: "main", paths: ["docs/**"])) { Step("d", run: "true") }
            let notes = Workflow("notes", on: .push(to: "main")) { Step("c", run: "true") }
            @main struct Workflows: WorkflowSet { static let workflows = [test, deploy, docs, notes] }

            """
        try await Bench.with(["workflows/x.swift": workflows]) { bench in
            let plan = try await bench.pipectl("plan")
            #expect(plan.output.contains(#"test: pull request into main [no messages with "[skip ci]"]"#), "\(plan)")
            #expect(plan.output.contains(#"deploy: push to main [only messages with "[deploy]"]"#), "\(plan)")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                func push(_ message: String) async throws -> String {
                    try await bench.git(["checkout", "-q", "--detach", "main"])
                    let head = try await bench.commit(["a.txt": message], message)
                    try await bench.git(["checkout", "-q", "main"])
                    try await bench.git(["update-ref", "refs/pull/1/head", head])
                    return head
                }
                let skipped = try await push("Add a\n\nNot yet. [skip ci]")
                let reason = #""test" ignores commits whose message has "[skip ci]""#
                for (subject, named) in [(skipped, "--ref \(skipped.prefix(12))"), ("#1", "--change 1")] {
                    let waited = try await bench.pipectl("wait", subject, "--json")
                    #expect(waited.code == 7, "\(waited.output)\(waited.errors)")
                    let answer = try JSONDecoder().decode(Answer.self, from: Data(waited.output.utf8))
                    #expect(answer.reason == "no workflow runs for \(skipped.prefix(10)): \(reason)")
                    #expect(answer.next == "pipectl run test \(named)")
                }
                let next = try await push("Add a")
                let tested = try await bench.pipectl("wait", next, "--json")
                #expect(tested.code == 0, "\(tested.output)\(tested.errors)")
                #expect(try JSONDecoder().decode(Answer.self, from: Data(tested.output.utf8)).notes.isEmpty)
                // What passed is said together with what did not start.
                let quiet = try await bench.commit(["b.txt": "b"], "Add b")
                let notes = try await bench.pipectl("wait", quiet, "--json")
                #expect(notes.code == 0, "\(notes.output)\(notes.errors)")
                let answer = try JSONDecoder().decode(Answer.self, from: Data(notes.output.utf8))
                let note = #""deploy" did not start: it starts only for commits whose message has "[deploy]""#
                let path = #""docs" did not start: it starts only for changed files that match "docs/**""#
                #expect(answer.notes == [note, path])
                let shipped = try await bench.commit(["b.txt": "c"], "Ship b [deploy]")
                let both = try await bench.pipectl("wait", shipped)
                #expect(both.code == 0 && !both.output.contains(#""deploy" did not"#), "\(both.output)\(both.errors)")
                // Where nothing runs, workflows for other branches are named, too.
                try await bench.git(["update-ref", "refs/heads/topic", skipped])
                let topic = try JSONDecoder().decode(
                    Answer.self, from: Data(try await bench.pipectl("wait", "topic", "--json").output.utf8))
                #expect(topic.reason.contains(#""notes" starts for pushes only to a branch that matches "main""#))
                // A run of `test` on main only warms a workspace up.
                let runs = try await bench.runs()
                #expect(runs.filter { $0.event == .pullRequest }.map(\.head) == [next])
                #expect(runs.filter { $0.workflow == "deploy" }.map(\.head) == [shipped])
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `wait follows a change to newer pushes, but not a commit`() async throws {
        try await Bench.with(Self.files()) { bench in
            for name in ["first", "never", "second", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let first = try await bench.change(
                    1, ["check.sh": "echo up > \(bench.meet)/first; cat \(bench.meet)/never\n"])
                try await bench.arrival(at: "first")
                async let change = bench.pipectl("wait", "#1")
                async let commit = bench.pipectl("wait", first)
                async let run = bench.pipectl("wait", "1")
                let second = try await bench.change(
                    1, ["check.sh": "echo up > \(bench.meet)/second; cat \(bench.meet)/go\n"])
                try await bench.arrival(at: "second")
                let superseded = try await commit
                #expect(superseded.code == 4, "\(superseded.output)\(superseded.errors)")
                #expect(try await run.code == 4)
                try await bench.release("go")
                let followed = try await change
                #expect(followed.code == 0, "\(followed.output)\(followed.errors)")
                #expect(followed.output.contains(second.prefix(10)), "\(followed.output)")
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a wait survives a killed daemon and ends with the next one`() async throws {
        try await Bench.with(Self.files()) { bench in
            for name in ["up", "go"] { try bench.meetingPoint(name) }
            let check = "echo up > \(bench.meet)/up; cat \(bench.meet)/go"
            let head = try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let head = try await bench.change(1, Self.files(check))
                try await bench.arrival(at: "up")
                return head
            }
            // No daemon runs now: the wait starts anyway and says so.
            let wait = try Child(
                [Bench.pipectl, "wait", head], in: bench.repository, environment: bench.environment,
                output: "\(bench.root)/wait-")
            let said = try await bench.command([
                "sh", "-c", "tail -n +1 -f \"$0\" --pid=\"$1\" | grep -m1 'no verdict yet'", "\(bench.root)/wait-2",
                "\(wait.id)",
            ])
            #expect(said.code == 0)
            try await bench.withDaemon { _ in
                try await bench.arrival(at: "up")
                try await bench.release("go")
                #expect(await wait.end == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `wait shows its progress`() async throws {
        try await Bench.with(Self.files()) { bench in
            for name in ["up", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "1") { daemon in
                try await daemon.event(.baseline)
                let head = try await unpushed(bench, Self.files("echo up > \(bench.meet)/up; cat \(bench.meet)/go"))
                try await progress(of: head, bench, says: "not seen yet")
                try await bench.git(["update-ref", "refs/pull/1/head", head])
                try await bench.arrival(at: "up")
                let second = try await bench.change(2, ["a.txt": "a\n"])
                let third = try await bench.change(3, ["a.txt": "b\n"])
                // The result of a wait that ends without a verdict has the progress as well.
                let running = try await bench.pipectl("wait", head, "--timeout", "20")
                #expect(running.code == 8 && running.output.contains("running, 0 of 2 steps"), "\(running.output)")
                try await progress(of: second, bench, says: "queued, next")
                try await progress(of: third, bench, says: "queued behind 1")
                try await bench.release("go")
                #expect(try await bench.pipectl("wait", third).code == 0)
                let history = try await bench.change(4, Self.files("echo up > \(bench.meet)/up; cat \(bench.meet)/go"))
                try await bench.arrival(at: "up")
                try await progress(of: history, bench, says: "median of last")
                try await bench.release("go")
                #expect(try await bench.pipectl("wait", history).code == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `wait exits with 5 for approval and with 130 when interrupted`() async throws {
        try await Bench.with(["workflows/x.swift": ApprovalTests.gated, "check.sh": "echo checked\n"]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let head = try await bench.change(1, ["a.txt": "a\n"])
                let held = try await bench.pipectl("wait", head)
                #expect(held.code == 5, "\(held.output)\(held.errors)")
                #expect(held.output.contains("pipectl approve"), "\(held.output)")
                // An unseen commit is waited for until an interrupt.
                let wait = try Child(
                    [Bench.pipectl, "wait", String(repeating: "0", count: 40)], in: bench.repository,
                    environment: bench.environment, output: "\(bench.root)/wait-")
                let said = try await bench.command([
                    "sh", "-c", "tail -n +1 -f \"$0\" --pid=\"$1\" | grep -m1 'not seen yet'", "\(bench.root)/wait-2",
                    "\(wait.id)",
                ])
                #expect(said.code == 0)
                wait.signal(SIGINT)
                #expect(await wait.end == 130)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a wait ends where nothing can come`() async throws {
        try await Bench.with { bench in
            let nobody = try await bench.pipectl("wait", "main", "--json")
            #expect(nobody.code == 8 && nobody.output.contains("pipectl watch"), "\(nobody.output)\(nobody.errors)")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let unpushed = try await self.unpushed(bench, ["a.txt": "never pushed\n"])
                for name in ["#872", "no-such-branch", unpushed] {
                    let ended = try await bench.pipectl("wait", name)
                    #expect(ended.code == 7, "\(name): \(ended.output)\(ended.errors)")
                }
                // A push within the time that a name may be missing is waited for. All but the ref itself is made
                // before, because that time is ten seconds.
                let head = try await self.unpushed(bench, ["a.txt": "a\n"])
                let late = try Child(
                    [Bench.pipectl, "wait", "#5"], in: bench.repository, environment: bench.environment,
                    output: "\(bench.root)/late-")
                try await eventually("a question about a change that is not there") {
                    FileManager.default.contents(atPath: "\(bench.root)/late-2")?.isEmpty == false
                }
                let refs = URL(fileURLWithPath: "\(bench.repository)/.git/refs/pull/5")
                try FileManager.default.createDirectory(at: refs, withIntermediateDirectories: true)
                try Data("\(head)\n".utf8).write(to: refs.appendingPathComponent("head"), options: .atomic)
                async let _: Void = late.kill(after: .seconds(300))
                #expect(await late.end == 0)
                let ignored = try await bench.pipectl("run", "test", "--change", "5", "--grace", "3")
                #expect(ignored.code == 2 && ignored.errors.contains("--grace 3"), "\(ignored.errors)")
                #expect(try await daemon.ended(1).verdict == .passed)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `without a daemon wait concludes nothing`() async throws {
        try await Bench.with { bench in
            let ended = try await bench.pipectl("wait", "main", "--timeout", "3")
            #expect(ended.code == 8, "\(ended.output)\(ended.errors)")
            #expect(ended.errors.contains("pipectl watch"), "\(ended.errors)")
            let wrong = try await bench.pipectl("wait", "main", "--change", "1")
            #expect(wrong.code == 2)
            let nowhere = try await bench.pipectl("wait", in: bench.root)
            #expect(nowhere.code == 2 && nowhere.errors.contains("not in a Git repository"), "\(nowhere.errors)")
        }
    }
}
