import TestBasics
import DaemonLog
import Foundation
import Pipeline
import Results
import TestSupport
import Testing

/// The merge queue with the built binary and a real repository.
struct LandingTests {
    /// What `pipectl queue --json` prints, as far as it is looked at.
    private struct Queue: Decodable {
        struct Entry: Decodable {
            var change: String
            var state: String
            var position: Int
        }
        struct Ended: Decodable {
            var change: String
            var outcome: String
            var commit: String?
            var runs: [Int]
        }
        var branch: String
        var target: String
        var frozen: String?
        var entries: [Entry]
        var ended: [Ended]
    }

    /// A file `bad…` makes the check fail; `gate.sh` of main decides whether a check waits.
    private static func files(_ landing: String = "method: .squash") -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .manual) {
                Step("check", run: "sh gate.sh; ! ls bad*")
            }
            let release = Workflow("release", on: .merge(into: "main")) {
                Step("pack", run: "mkdir dist && echo \\"$PIPECTL_MERGED_CHANGES\\" > dist/notes.txt").artifacts("dist/*.txt")
            }
            @main struct Workflows: WorkflowSet {
                static let workflows = [test, release]
                static let landing = Landing(into: "main", requires: [test], \(landing))
            }

            """,
            "gate.sh": "true\n",
        ]
    }

    private func queue(_ bench: Bench) async throws -> Queue {
        let ended = try await bench.pipectl("queue", "--json")
        guard ended.code == 0 else { throw Bench.Failure(description: "pipectl queue: \(ended.errors)") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let all = try decoder.decode([Queue].self, from: Data(ended.output.utf8))
        guard let queue = all.first(where: { $0.branch == "main" }) else {
            throw Bench.Failure(description: "there is no queue: \(ended.output)")
        }
        return queue
    }

    /// Waits until the queue is as wanted, for five minutes at most.
    private func wait(_ bench: Bench, until isMet: (Queue) -> Bool) async throws -> Queue {
        let end = ContinuousClock.now + .seconds(300)
        while true {
            let queue = try await queue(bench)
            if isMet(queue) { return queue }
            guard ContinuousClock.now < end else {
                throw Bench.Failure(description: "the queue did not get there: \(queue)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func land(_ bench: Bench, _ change: String) async throws {
        let ended = try await bench.pipectl("land", change)
        guard ended.code == 0 else { throw Bench.Failure(description: "pipectl land: \(ended.errors)") }
    }

    /// The changes that each release run names, the oldest run first, once all have ended and name so many changes.
    private func releases(_ bench: Bench, of changes: Int) async throws -> [[String]] {
        var named: [[String]] = []
        // A change leaves the queue before the look that finds what it has landed.
        try await eventually("releases of \(changes) changes", within: .seconds(300)) {
            named = []
            for run in try await bench.runs().filter({ $0.workflow == "release" }).sorted(by: { $0.id < $1.id }) {
                guard let verdict = run.verdict else { return false }
                #expect(verdict == .passed)
                named.append(try await bench.report(run.id).mergedChanges.map(\.name))
            }
            return named.joined().count >= changes
        }
        return named
    }

    private func withRepository(
        _ landing: String = "method: .squash", changes: [Int: String], _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.with(Self.files(landing)) { bench in
            // Its main is checked out, which a push does not move otherwise.
            try await bench.git(["config", "receive.denyCurrentBranch", "updateInstead"])
            for (number, file) in changes.sorted(by: { $0.key < $1.key }) {
                try await bench.change(number, [file: "\(number)\n"])
            }
            try await body(bench)
        }
    }

    @Test(.timeLimit(.minutes(8)), arguments: ["squash", "merge", "rebase"])
    func `of three changes the culprit leaves, two land, and each landing has one release`(method: String) async throws
    {
        try await withRepository("method: .\(method)", changes: [1: "a.txt", 2: "bad.txt", 3: "c.txt"]) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                for change in ["1", "2", "3"] { try await land(bench, change) }
                let ended = try await wait(bench) { $0.entries.isEmpty }
                #expect(
                    Dictionary(ended.ended.map { ($0.change, $0.outcome) }) { first, _ in first }
                        == ["1": "landed", "2": "failed", "3": "landed"])
                // What left has its report.
                let run = try #require(ended.ended.first { $0.change == "2" }?.runs.first)
                #expect(try await bench.report(Int64(run)).verdict == .failed)
                // What is on main is the commit that a run passed, file by file.
                let tip = try await bench.git(["rev-parse", "main"])
                #expect(tip == ended.target)
                #expect(try await bench.git(["ls-tree", "--name-only", "main"]).contains("c.txt"))
                #expect(try await !bench.git(["ls-tree", "--name-only", "main"]).contains("bad.txt"))
                let passed = try await bench.runs().filter { $0.workflow == "test" && $0.verdict == .passed }
                #expect(passed.contains { $0.testedCommit == tip })
                #expect(try await releases(bench, of: 2).sorted { $0[0] < $1[0] } == [["1"], ["3"]])
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a daemon that is killed while it tests and after it pushed lands each change once`() async throws {
        try await withRepository("method: .squash", changes: [1: "a.txt", 2: "b.txt"]) { bench in
            for name in ["testing", "never", "pushed", "nobody"] { try bench.meetingPoint(name) }
            let hook = "\(bench.repository)/.git/hooks/post-receive"
            let first = "\(bench.meet)/first"
            try Data(
                "#!/bin/sh\n[ -e \(first)2 ] || { touch \(first)2; echo up > \(bench.meet)/pushed; cat \(bench.meet)/nobody; }\n"
                    .utf8
            )
            .write(to: URL(fileURLWithPath: hook))
            chmod(hook, 0o755)
            try await bench.commit(
                [
                    "gate.sh":
                        "[ -e \(first) ] || { touch \(first); echo up > \(bench.meet)/testing; cat \(bench.meet)/never; }\n"
                ],
                "Wait once")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await land(bench, "1")
                try await land(bench, "2")
                try await bench.arrival(at: "testing")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            // The entries were accepted, so they are still there.
            #expect(try await queue(bench).entries.map(\.change) == ["1", "2"])
            try await bench.withDaemon { daemon in
                try await bench.arrival(at: "pushed")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            try await bench.release("nobody")
            try await bench.withDaemon { daemon in
                let ended = try await wait(bench) { $0.entries.isEmpty }
                #expect(ended.ended.map(\.outcome) == ["landed", "landed"])
                #expect(Set(ended.ended.map(\.change)) == ["1", "2"])
                let log = try await bench.git(["log", "--format=%s", "main"])
                #expect(log.split(separator: "\n").count { $0.hasSuffix("(#1)") } == 1)
                #expect(log.split(separator: "\n").count { $0.hasSuffix("(#2)") } == 1)
                // Each is named by one release, whether they landed together or one after the other.
                #expect(try await releases(bench, of: 2).flatMap { $0 }.sorted() == ["1", "2"])
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a frozen queue lands nothing, and a target that moved is tested again`() async throws {
        try await withRepository(changes: [1: "a.txt", 2: "b.txt"]) { bench in
            try bench.meetingPoint("testing")
            let (once, go) = ("\(bench.meet)/once", "\(bench.meet)/go")
            // A file, not a meeting point: the queue may end the check first, because the target has moved.
            let meet = "echo up > \(bench.meet)/testing; until [ -e \(go) ]; do sleep 0.1; done"
            try await bench.commit(["gate.sh": "[ -e \(once) ] || { touch \(once); \(meet); }\n"], "Wait once")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await land(bench, "1")
                try await bench.arrival(at: "testing")
                // Somebody else pushes while it is tested.
                let other = try await bench.commit(["other.txt": "x\n"], "By other hands")
                try Data().write(to: URL(fileURLWithPath: go))
                let ended = try await wait(bench) { $0.entries.isEmpty }
                #expect(ended.ended.map(\.outcome) == ["landed"])
                #expect(try await bench.git(["rev-parse", "main^"]) == other)
                #expect(try await bench.pipectl("queue", "--freeze", "release day").code == 0)
                try await land(bench, "2")
                let frozen = try await queue(bench)
                #expect(frozen.frozen == "release day" && frozen.entries.map(\.state) == ["waiting"])
                #expect(try await bench.pipectl("land", "--cancel", "2").code == 0)
                #expect(try await bench.pipectl("land", "--cancel", "2").code != 0)
                try await land(bench, "2")
                #expect(try await bench.pipectl("queue", "--resume").code == 0)
                #expect(try await wait(bench) { $0.entries.isEmpty }.ended.first?.outcome == "landed")
                // What has landed does not land again, and what is no change neither.
                #expect(try await bench.pipectl("land", "2").code != 0)
                #expect(try await bench.pipectl("land", "77").code != 0)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a push that a hook refuses freezes the queue, and the change stays`() async throws {
        try await withRepository(changes: [1: "a.txt"]) { bench in
            let hook = "\(bench.repository)/.git/hooks/pre-receive"
            try Data("#!/bin/sh\necho not today\nexit 1\n".utf8).write(to: URL(fileURLWithPath: hook))
            chmod(hook, 0o755)
            let before = try await bench.git(["rev-parse", "main"])
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await land(bench, "1")
                let frozen = try await wait(bench) { $0.frozen != nil }
                #expect(frozen.frozen?.contains("not today") == true)
                #expect(frozen.entries.map(\.change) == ["1"])
                #expect(try await bench.git(["rev-parse", "main"]) == before)
                try FileManager.default.removeItem(atPath: hook)
                #expect(try await bench.pipectl("queue", "--resume").code == 0)
                #expect(try await wait(bench) { $0.entries.isEmpty }.ended.map(\.outcome) == ["landed"])
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
