import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Which code counts as merged, whose definition runs the rest, and what needs approval.
struct TrustTests {
    static let source = """
        import Pipeline

        let test = Workflow("test", on: .pullRequest(into: "main")) { Step("check", run: "sh check.sh") }
            .needsApproval(ifChanged: "Makefile")
        let release = Workflow("release", on: .tag(matching: "v*")) { Step("publish", run: "echo main > ROOT/published-$PIPECTL_RUN") }
        let push = Workflow("push", on: .push(to: "**")) { Step("say", run: "echo of main") }
        @main struct Workflows: WorkflowSet { static let workflows = [test, release, push] }

        """

    /// The same workflows as a hostile change would write them: no release, and every secret printed.
    static let weakened = source.replacing(
        ".tag(matching: \"v*\")", with: ".tag(matching: \"v*\"), .pullRequest(into: \"x\")"
    )
    .replacing("echo main", with: "echo theirs").replacing("echo of main", with: "echo of theirs")
    .replacing("sh check.sh", with: "echo not checked")

    static func with(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.with(["check.sh": "true\n"]) { bench in
            try await bench.commit(
                ["workflows/x.swift": source.replacing("ROOT", with: bench.meet)], "Workflows")
            #expect(try await bench.look().code == 0)
            try await body(bench)
        }
    }

    private func published(_ bench: Bench, _ run: Int) -> String? {
        try? String(contentsOfFile: "\(bench.meet)/published-\(run)", encoding: .utf8)
    }

    private func report(_ bench: Bench, _ run: Int) async throws -> Told {
        let ended = try await bench.pipectl("report", "\(run)", "--format", "json")
        return try JSONDecoder().decode(Told.self, from: Data(ended.output.utf8))
    }

    /// The fields of a report that a script would read.
    private struct Told: Decodable {
        struct Definition: Decodable { var commit: String }
        struct Approval: Decodable {
            var by: String?
            var user: UInt32?
            var comment: String?
            var decision: String?
            var decidedAt: String?
        }
        var verdict: String
        var reason: String
        var trust: String?
        var definition: Definition?
        var approvals: [Approval]?
    }

    @Test(.timeLimit(.minutes(6)))
    func `a tag on a commit that is not merged releases nothing until approved`() async throws {
        try await Self.with { bench in
            let main = try await bench.git(["rev-parse", "main"])
            // Its own definition would not ask for approval.
            let imposter = try await bench.change(
                1, ["workflows/x.swift": Self.weakened.replacing("ROOT", with: bench.meet)])
            try await bench.git(["update-ref", "-d", "refs/pull/1/head"])
            try await bench.git(["tag", "v1", imposter])
            let look = try await bench.look()
            #expect(look.code == 5, "\(look.output)\(look.errors)")
            #expect(look.output.contains("release  needs approval"))
            let held = try await report(bench, 1)
            #expect(held.verdict == "needsApproval")
            #expect(held.trust == "change", "that the object exists says nothing")
            #expect(held.reason.contains("is not merged into main"), "\(held.reason)")
            #expect(published(bench, 1) == nil)
            let text = try await bench.pipectl("report", "1").output
            #expect(text.contains("pipectl approve 1"), "\(text)")
            #expect(try await bench.look().code == 0, "asked once")

            let approve = try await bench.pipectl("approve", "1", "--reason", "a hotfix")
            #expect(approve.code == 0, "\(approve.errors)")
            #expect(approve.errors.contains("continues when `pipectl watch` starts"))
            #expect(try await bench.look().code == 0)
            #expect(published(bench, 1) == "main\n", "by the default branch's definition")
            let released = try await report(bench, 1)
            #expect(released.verdict == "passed")
            #expect(released.definition?.commit == main)
            #expect(released.approvals?.map(\.decision) == ["approved"])
            #expect(released.approvals?.first?.user == getuid())
            #expect(released.approvals?.first?.comment == "a hotfix")

            // The same commit with another tag is another release.
            try await bench.git(["tag", "v2", imposter])
            #expect(try await bench.look().code == 5)
            try await bench.git(["tag", "v0", main])
            #expect(try await bench.look().code == 0, "merged code is released unasked")
            #expect(published(bench, 3) == "main\n")
            #expect(published(bench, 2) == nil)
            let merged = try await report(bench, 3)
            #expect(merged.trust == "merged" && merged.approvals == nil)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `unmerged code runs by the definition of the default branch`() async throws {
        try await Self.with { bench in
            let main = try await bench.git(["rev-parse", "main"])
            let theirs = Self.weakened.replacing("ROOT", with: bench.meet)
            let head = try await bench.change(1, ["workflows/x.swift": theirs, "check.sh": "exit 3\n"])
            // Runs by hand of the change, its commit and a branch; then a push of that branch.
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1, "a change can't lift its gate")
            #expect(try await bench.pipectl("run", "test", "--ref", head).code == 1)
            #expect(try await bench.pipectl("run", "release", "--ref", head).code == 5)
            #expect(published(bench, 3) == nil)
            try await bench.git(["branch", "topic", head])
            _ = try await bench.look()
            let runs = try await bench.runs()
            #expect(runs.filter { $0.workflow == "push" }.count == 1)
            let push = try #require(runs.first { $0.workflow == "push" })
            #expect(try await bench.pipectl("logs", "\(push.id)").output == "of main\n")
            for run in [1, 2, Int(push.id)] {
                let report = try await report(bench, run)
                #expect(report.trust == "change" && report.definition?.commit == main)
            }
            // The person's own working tree runs by its own definition.
            try bench.write(["workflows/x.swift": theirs])
            let own = try await bench.pipectl("run", "push", "--json")
            #expect(own.code == 0, "\(own.errors)")
            let last = try #require(try await bench.runs().first)
            #expect(try await bench.pipectl("logs", "\(last.id)").output == "of theirs\n")
            #expect(try await report(bench, Int(last.id)).trust == "change")
            // Once protected, the branch is like main and its own definition runs.
            try await bench.git(["checkout", "-q", "-f", "topic"])
            try await bench.commit(["more.txt": "x"], "More")
            try await bench.git(["checkout", "-q", "main"])
            #expect(try await bench.look("--protected", "top*").code == 0)
            let merged = try #require(try await bench.runs().first)
            #expect(try await bench.pipectl("logs", "\(merged.id)").output == "of theirs\n")
            #expect(merged.trust == .merged)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `changes by other authors and to protected paths need approval`() async throws {
        try await Self.with { bench in
            let (evil, clear) = ("Mallory\u{1b}[31m\u{1b}]0;owned\u{7}", "\u{1b}[2J")
            try await bench.git(["checkout", "-q", "--detach", "main"])
            try bench.write(["a.txt": "a\n"])
            try await bench.git(["add", "-A"])
            try await bench.git(["commit", "-q", "-m", "Evil\(clear)", "--author", "\(evil) <m@evil.example>"])
            try await bench.git(["update-ref", "refs/pull/1/head", "HEAD"])
            try await bench.git(["checkout", "-q", "main"])
            try await bench.change(2, ["b.txt": "b\n"])
            try await bench.change(3, ["docs/c.txt": "c\n"])
            try await bench.change(4, ["Makefile": "all:\n"])
            let rules = ["--allow-authors", "*@example.com", "--protect-paths", "docs/**"]
            func look() async throws -> Ended {
                try await bench.look(rules[0], rules[1], rules[2], rules[3])
            }
            let first = try await look()
            #expect(first.code == 5)
            let runs = try await bench.runs()
            let reasons = Dictionary(uniqueKeysWithValues: runs.map { ($0.change ?? "", $0.heldFor) })
            #expect(reasons["1"]??.contains("m@evil.example> is not among") == true)
            #expect(reasons["2"] == .some(nil))
            #expect(runs.first { $0.change == "2" }?.verdict == .passed)
            #expect(reasons["3"]??.contains("changes docs/c.txt") == true)
            #expect(reasons["4"]??.contains("changes Makefile") == true)
            let id = try #require(runs.first { $0.change == "1" }).id
            for ended in [
                first, try await bench.pipectl("runs"), try await bench.pipectl("report", "\(id)"),
                try await bench.pipectl("show", "\(id)"),
                try await bench.pipectl("approve", "\(id)", "--reason", "ok\u{1b}]0;x\u{7}\r\n\u{0b}fine"),
            ] {
                let said = ended.output + ended.errors
                #expect(!said.contains("\u{1b}") && !said.contains("\u{7}"), "\(said.debugDescription)")
            }
            #expect(try await look().code == 0)
            for format in ["text", "markdown", "html"] {
                let said = try await bench.pipectl("report", "\(id)", "--format", format).output
                #expect(said.contains("approved by"))
                #expect(!said.contains("\u{1b}") && !said.contains("\u{7}") && !said.contains("\u{0b}"))
            }
            // For a test, the approval is valid for a rerun of exactly the same.
            let again = try await bench.pipectl("rerun", "\(id)", rules[0], rules[1])
            #expect(again.code == 0, "\(again.errors)")
            // A newer push needs a new approval.
            try await bench.git(["checkout", "-q", "--detach", "refs/pull/1/head"])
            try bench.write(["a.txt": "b\n"])
            try await bench.git(["commit", "-qam", "More", "--author", "Mallory <m@evil.example>"])
            try await bench.git(["update-ref", "refs/pull/1/head", "HEAD"])
            try await bench.git(["checkout", "-q", "main"])
            #expect(try await look().code == 5)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the report says what an edit of the workflows would do`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            let plain = Workflows.standard["workflows/x.swift"] ?? ""
            try await bench.change(
                1,
                [
                    "workflows/x.swift": plain.replacing(
                        "Step(\"lint\", run: \"echo linted\")", with: "Step(\"x\", run: \"true\")"
                    )
                    .replacing("sh check.sh", with: "true")
                ])
            try await bench.change(2, ["workflows/y.swift": "let broken: Int = \"no\"\n"])
            try await bench.change(
                3,
                [
                    "workflows/x.swift": plain.replacing(
                        "Step(\"check\"", with: "let _: Void = { while true {} }()\n    Step(\"check\"")
                ])
            try await bench.change(4, ["workflows/notes.md": "only words\n"])
            let look = try await bench.look()
            #expect(look.code == 0, "nothing of it is part of a verdict: \(look.output)")
            let runs = try await bench.runs()
            func report(_ change: String) async throws -> String {
                let run = try #require(runs.first { $0.change == change })
                return try await bench.pipectl("report", "\(run.id)").output
            }
            let first = try await report("1")
            #expect(
                first.contains("would compile; it adds 1 step (x), removes 1 (lint), changes the command of check"),
                "\(first)")
            let second = try await report("2")
            #expect(second.contains("does not compile: workflows/y.swift:1"), "\(second)")
            let third = try await report("3")
            #expect(third.contains("can't be planned: the workflow program had not answered after"), "\(third)")
            #expect(try await report("4").contains("would compile; it plans the same steps"))
        }
    }
}
