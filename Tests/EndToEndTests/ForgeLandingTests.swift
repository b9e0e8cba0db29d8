import DaemonLog
import Foundation
import Results
import TestBasics
import TestForge
import TestSupport
import Testing

/// Changes land through a forge, by commands in comments and by labels.
@Suite(.timeLimit(.minutes(8))) struct ForgeLandingTests {
    /// What `pipectl queue --json` prints, as far as it is looked at.
    private struct Queue: Decodable {
        struct Entry: Decodable {
            var change: String
            var askedBy: String
        }
        struct Ended: Decodable {
            var change: String
            var outcome: String
            var commit: String?
            var isUntested: Bool?
        }
        var branch: String
        var target: String
        var frozen: String?
        var entries: [Entry]
        var ended: [Ended]
    }

    private static func files(_ landing: String) -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) {
                Step("check", run: "! ls bad*").neverProved()
            }
            let release = Workflow("release", on: .merge(into: "main")) { Step("pack", run: "true") }
            @main struct Workflows: WorkflowSet {
                static let workflows = [test, release]
                static let landing = Landing(into: "main", requires: [test])\(landing)
            }

            """
        ]
    }

    private func queues(_ bench: Bench) async throws -> [Queue] {
        let ended = try await bench.pipectl("queue", "--json")
        guard ended.code == 0 else { throw Bench.Failure(description: "pipectl queue: \(ended.errors)") }
        return try JSONDecoder().decode([Queue].self, from: Data(ended.output.utf8))
    }

    /// Waits until the queue of main is as wanted, for a minute at most.
    @discardableResult
    private func wait(_ bench: Bench, until isMet: (Queue) -> Bool) async throws -> Queue {
        var found: Queue?
        try await eventually("the queue") {
            // A daemon that was just killed may have taken the connection.
            found = try? await queues(bench).first { $0.branch == "main" }
            return found.map(isMet) ?? false
        }
        guard let found else { throw Bench.Failure(description: "there is no queue") }
        return found
    }

    /// A bench whose repository is at a Gitea.
    private func withForge(
        _ landing: String = ".merged(by: .forge)", _ body: (Bench, HostedGitea, ForgeDouble) async throws -> Void
    ) async throws {
        try await Bench.with(Self.files(landing)) { bench in
            let hosted = HostedGitea(bench)
            let forge = try await ForgeDouble { hosted.answer($0) }
            do { try await body(bench, hosted, forge) } catch {
                try? await forge.close()
                throw error
            }
            try await forge.close()
        }
    }

    /// - Returns: What `forge connect` printed.
    @discardableResult
    private func connect(_ bench: Bench, _ forge: ForgeDouble) async throws -> Ended {
        let file = "\(bench.root)/token"
        try Data("\(HostedGitea.token)\n".utf8).write(to: URL(fileURLWithPath: file))
        let connected = try await bench.pipectl(
            "forge", "connect", "\(forge.url)/octo/hello", "--kind", "gitea", "--token-file", file)
        try #require(connected.code == 0, "\(connected.errors)")
        return connected
    }

    /// Pushes a change and opens it at the forge.
    @discardableResult
    private func open(_ number: Int, _ file: String, _ bench: Bench, _ hosted: HostedGitea) async throws -> String {
        let head = try await bench.change(number, [file: "\(number)\n"])
        hosted.open(number, head)
        _ = try await bench.pipectl("notify")
        return head
    }

    private func land(_ bench: Bench, _ change: String) async throws {
        let ended = try await bench.pipectl("land", change)
        guard ended.code == 0 else { throw Bench.Failure(description: "pipectl land: \(ended.errors)") }
    }

    /// The trees that runs passed.
    private func testedTrees(_ bench: Bench) async throws -> Set<String> {
        var trees: Set<String> = []
        for run in try await bench.runs() where run.workflow == "test" && run.verdict == .passed {
            if let tree = try await bench.report(run.id).testedTree { trees.insert(tree) }
        }
        return trees
    }

    // MARK: Merged by the forge

    @Test func `the forge merges what passed, one by one, and each tree of the target was tested`() async throws {
        try await withForge { bench, hosted, forge in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                for (number, file) in [(1, "a.txt"), (2, "bad.txt"), (3, "c.txt")] {
                    try await open(number, file, bench, hosted)
                }
                for change in ["1", "2", "3"] { try await land(bench, change) }
                let queue = try await wait(bench) { $0.entries.isEmpty }
                #expect(
                    Dictionary(queue.ended.map { ($0.change, $0.outcome) }) { first, _ in first }
                        == ["1": "landed", "2": "failed", "3": "landed"])
                #expect(queue.ended.allSatisfy { $0.isUntested == nil })
                #expect(queue.ended.first { $0.change == "3" }?.commit == hosted.merged(3))
                #expect(hosted.merges == 2)
                // Every commit of main since the beginning has a tree that a run passed.
                let trees = try await testedTrees(bench)
                for commit in try await bench.git(["rev-list", "--first-parent", "main", "--not", "main~2"])
                    .split(separator: "\n")
                {
                    #expect(trees.contains(try await bench.git(["rev-parse", "\(commit)^{tree}"])))
                }
                try await eventually("the releases") {
                    try await bench.runs().count { $0.workflow == "release" && $0.verdict == .passed } == 2
                }
                #expect(daemon.events(.landedUntested).isEmpty)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a target that moves just before the forge merges is told as untested`() async throws {
        try await withForge { bench, hosted, forge in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                hosted.beforeMerge {
                    // Somebody with more rights pushes.
                    guard let tip = try? hosted.git("rev-parse", "main"),
                        let blob = try? hosted.git("hash-object", "-w", ".git/HEAD"),
                        let entries = try? hosted.git("ls-tree", tip),
                        let tree = try? CommandRunner(in: bench.repository, environment: bench.environment).waitForEnd(
                            of: ["git", "mktree"], input: "\(entries)\n100644 blob \(blob)\tother.txt\n"
                        ).text,
                        let commit = try? hosted.git("commit-tree", tree, "-p", tip, "-m", "By other hands")
                    else { return }
                    _ = try? hosted.git("update-ref", "refs/heads/main", commit, tip)
                }
                try await land(bench, "1")
                let queue = try await wait(bench) { $0.entries.isEmpty }
                let ended = try #require(queue.ended.first)
                #expect(ended.outcome == "landed" && ended.isUntested == true && ended.commit == hosted.merged(1))
                #expect(try await bench.git(["ls-tree", "--name-only", "main"]).contains("other.txt"))
                try await daemon.event(.landedUntested)
                // The release waits for nothing.
                try await eventually("the release") {
                    try await bench.runs().contains { $0.workflow == "release" && $0.verdict == .passed }
                }
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a daemon that is killed between the order and its note lands the change once`() async throws {
        try await withForge { bench, hosted, forge in
            try bench.meetingPoint("merged")
            try bench.meetingPoint("never")
            let meet = bench.meet
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                hosted.afterMerge {
                    _ = try? CommandRunner().waitForEnd(of: ["sh", "-c", "echo up > \(meet)/merged; cat \(meet)/never"])
                }
                try await land(bench, "1")
                try await bench.arrival(at: "merged")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            hosted.afterMerge {}
            try await bench.release("never")
            try await wait(bench) { $0.entries.map(\.change) == ["1"] }
            try await bench.withDaemon { daemon in
                let queue = try await wait(bench) { $0.entries.isEmpty }
                #expect(queue.ended.map(\.outcome) == ["landed"] && queue.ended.first?.isUntested == nil)
                #expect(hosted.merges == 1)
                #expect(try await bench.git(["rev-list", "--count", "main"]) == "2")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a forge that may not merge freezes the queue, and a change without a number is refused`() async throws {
        try await withForge { bench, hosted, forge in
            hosted.refuseMerges(true)
            try await bench.withDaemon("--changes", "agent/*") { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                try await land(bench, "1")
                let frozen = try await wait(bench) { $0.frozen != nil }
                #expect(frozen.entries.map(\.change) == ["1"] && hosted.merges == 0)
                hosted.refuseMerges(false)
                // Then it is down for a moment, and asked again.
                hosted.breakMerges(1)
                #expect(try await bench.pipectl("queue", "--resume").code == 0)
                #expect(try await wait(bench) { $0.entries.isEmpty }.ended.map(\.outcome) == ["landed"])
                try await bench.git(["update-ref", "refs/heads/agent/x", "refs/pull/1/head"])
                _ = try await bench.pipectl("notify")
                let refused = try await bench.pipectl("land", "agent/x")
                #expect(refused.code != 0 && refused.errors.contains("number"))
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a head that moved at the forge, and a change that it can't merge, leave the queue`() async throws {
        try await withForge { bench, hosted, forge in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                try await open(2, "b.txt", bench, hosted)
                try await open(3, "c.txt", bench, hosted)
                _ = try await daemon.ended(3)
                // Somebody pushes, and the forge knows it before the repository does.
                hosted.change(1) { $0.head = String(repeating: "9", count: 40) }
                hosted.change(2) { $0.isMergeable = false }
                for change in ["1", "2", "3"] { try await land(bench, change) }
                let queue = try await wait(bench) { $0.entries.isEmpty }
                #expect(
                    Dictionary(queue.ended.map { ($0.change, $0.outcome) }) { first, _ in first }
                        == ["1": "withdrawn", "2": "conflict", "3": "landed"])
                #expect(queue.frozen == nil && hosted.merges == 1 && hosted.merged(3) != nil)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a push to a protected branch that is refused names the other way`() async throws {
        try await withForge("") { bench, hosted, forge in
            let hook = "\(bench.repository)/.git/hooks/pre-receive"
            try Data("#!/bin/sh\necho 'Not allowed to push to protected branch main'\nexit 1\n".utf8)
                .write(to: URL(fileURLWithPath: hook))
            chmod(hook, 0o755)
            try await bench.git(["config", "receive.denyCurrentBranch", "updateInstead"])
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                try await land(bench, "1")
                let frozen = try await wait(bench) { $0.frozen != nil }
                #expect(frozen.frozen?.contains(".merged(by: .forge)") == true)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    // MARK: Comments, deliveries, labels

    @Test func `a delivery makes the daemon look, and comments of a writer start a run and land the change`()
        async throws
    {
        try await withForge { bench, hosted, forge in
            let port = try await ForgeDouble.freePort()
            try await bench.withDaemon("--listen", "127.0.0.1:\(port)") { daemon in
                try await daemon.event(.baseline)
                let hook = try await hook(bench, forge)
                // Nobody tells the daemon of the push but the forge.
                let head = try await bench.change(7, ["a.txt": "7\n"])
                hosted.open(7, head)
                let opened =
                    #"{"action": "opened", "number": 7, "repository": {"full_name": "octo/hello"}, "#
                    + #""pull_request": {"number": 7, "head": {"sha": "\#(head)"}}, "sender": {"login": "ada", "id": 1}}"#
                let wrong = try await HostedGitea.deliver(opened, to: hook.url, secret: "another", bench)
                #expect(wrong == "401")
                #expect(try await hook.send(opened) == "202")
                #expect(try await daemon.ended(1).verdict == .passed)
                // Nobody can have read a commit that was pushed a moment before.
                try await Task.sleep(for: .seconds(6))

                func comment(_ text: String, by author: String) async throws -> Int {
                    hosted.say(text, at: 7, by: author)
                    let id = try #require(hosted.comments.last { $0.author == author }?.id)
                    let body =
                        #"{"action": "created", "issue": {"number": 7, "pull_request": {}}, "#
                        + #""comment": {"id": \#(id)}, "repository": {"full_name": "octo/hello"}}"#
                    #expect(try await hook.send(body) == "202")
                    return id
                }
                let refused = try await comment("/pipectl rerun", by: "eve")
                try await eventually("the refusal") { hosted.reaction(to: refused) == "-1" }
                let rerun = try await comment("/pipectl rerun", by: "grace")
                #expect(try await daemon.ended(2).verdict == .passed)
                try await eventually("the answer") { hosted.reaction(to: rerun) == "+1" }
                let land = try await comment("/pipectl land", by: "grace")
                let queue = try await wait(bench) { $0.ended.contains { $0.change == "7" } }
                #expect(queue.ended.map(\.outcome) == ["landed"] && queue.ended.first?.commit == hosted.merged(7))
                try await eventually("the answer") { hosted.reaction(to: land) == "+1" }
                #expect(hosted.merges == 1)
                #expect(try await bench.runs().count { $0.rerunOf != nil } == 1)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `changes that conflict with each other, and wait in the queue, say so at the forge`() async throws {
        try await withForge { bench, hosted, forge in
            func comment(_ change: Int) -> String {
                hosted.comments.first { $0.change == change && $0.author == "bot" }?.body ?? ""
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await connect(bench, forge)
                try await open(1, "a.txt", bench, hosted)
                try await open(2, "a.txt", bench, hosted)
                try await open(3, "c.txt", bench, hosted)
                try await eventually("both comments") {
                    comment(1).contains("change `2`: `a.txt`") && comment(2).contains("change `1`: `a.txt`")
                }
                try await land(bench, "3")
                try await wait(bench) { $0.ended.contains { $0.change == "3" } }
                #expect(try await bench.pipectl("queue", "--freeze", "a look at it").code == 0)
                try await land(bench, "1")
                try await eventually("the place") { comment(1).contains("place 1 of 1") }
                #expect(try await bench.pipectl("land", "--cancel", "1").code == 0)
                // The forge moved main, and left the files of the work tree behind.
                try await bench.git(["reset", "-q", "--hard"])
                let mended = try await bench.change(2, ["b.txt": "2\n"])
                hosted.change(2) { $0.head = mended }
                _ = try await bench.pipectl("notify")
                // The hidden mark and one line.
                try await eventually("the comments without conflict") {
                    comment(1).split(separator: "\n").count == 2 && comment(2).split(separator: "\n").count == 2
                }
                #expect(comment(3).isEmpty, "no comment is made for a place")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a label puts a change in line, and takes it out again`() async throws {
        try await withForge(".merged(by: .forge).label(\"land\")") { bench, hosted, forge in
            let port = try await ForgeDouble.freePort()
            try await bench.withDaemon("--listen", "127.0.0.1:\(port)") { daemon in
                try await daemon.event(.baseline)
                let hook = try await hook(bench, forge)
                func label(_ labels: [String], _ number: Int) async throws {
                    hosted.change(number) { $0.labels = labels }
                    #expect(try await hook.send(Self.labelled(number, labels)) == "202")
                }
                try await open(1, "a.txt", bench, hosted)
                try await open(2, "b.txt", bench, hosted)
                _ = try await daemon.ended(2)
                try await land(bench, "1")
                try await wait(bench) { $0.ended.contains { $0.change == "1" } }
                #expect(try await bench.pipectl("queue", "--freeze", "a look at it").code == 0)
                try await label(["land"], 2)
                let queue = try await wait(bench) { $0.entries.map(\.change) == ["2"] }
                #expect(queue.entries.first?.askedBy.contains("land") == true)
                try await label([], 2)
                try await wait(bench) { $0.entries.isEmpty }
                #expect(hosted.merged(2) == nil)
                try await label(["ci", "land"], 2)
                try await wait(bench) { $0.entries.map(\.change) == ["2"] }
                #expect(try await bench.pipectl("queue", "--resume").code == 0)
                let landed = try await wait(bench) { $0.ended.first?.change == "2" && $0.entries.isEmpty }
                #expect(landed.ended.first?.commit == hosted.merged(2))
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `a label at the change of a stranger waits for the approval of its run`() async throws {
        try await withForge(".merged(by: .forge).label(\"land\")") { bench, hosted, forge in
            let port = try await ForgeDouble.freePort()
            try await bench.withDaemon("--listen", "127.0.0.1:\(port)") { daemon in
                try await daemon.event(.baseline)
                let hook = try await hook(bench, forge)
                let head = try await bench.change(1, ["a.txt": "1\n"])
                hosted.open(1, head)
                hosted.change(1) { $0.fork = "eve/hello" }
                _ = try await bench.pipectl("notify")
                try await daemon.event(.runNeedsApproval)
                hosted.change(1) { $0.labels = ["land"] }
                let asked = forge.requests.count
                #expect(try await hook.send(Self.labelled(1, ["land"])) == "202")
                try await eventually("the look at the label") {
                    forge.requests.dropFirst(asked).contains { $0.path.hasSuffix("/pulls/1") }
                }
                // What does not happen has no event: a label is looked at within a second.
                try await Task.sleep(for: .seconds(3))
                #expect(try await queues(bench).allSatisfy { $0.entries.isEmpty && $0.ended.isEmpty })
                #expect(try await bench.pipectl("approve", "1").code == 0)
                try await wait(bench) { $0.ended.contains { $0.change == "1" } }
                #expect(hosted.merged(1) != nil)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    /// Where the daemon hears deliveries.
    private struct Hook {
        var url: String
        var secret: String
        var bench: Bench

        /// Sends a signed delivery, and returns the status of the answer.
        func send(_ body: String) async throws -> String {
            try await HostedGitea.deliver(body, to: url, secret: secret, bench)
        }
    }

    /// Connects the repository, and reads where deliveries go.
    private func hook(_ bench: Bench, _ forge: ForgeDouble) async throws -> Hook {
        let form = try await connect(bench, forge).output
        let secret = try #require(form.firstMatch(of: /secret +([0-9a-f]{64})/)?.1)
        let url = try #require(form.firstMatch(of: /http:\S+\/hooks\/\S+/)?.0)
        return Hook(url: String(url), secret: String(secret), bench: bench)
    }

    private static func labelled(_ number: Int, _ labels: [String]) -> String {
        """
        {"action": "label_updated", "number": \(number), "pull_request": {"number": \(number)},
        "repository": {"full_name": "octo/hello"}, "at": "\(Date().timeIntervalSince1970) \(labels.joined())"}
        """
    }
}
