import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// A fix that passes is pushed only if the target's definition says so, and never over another push.
struct FixPushTests {
    private static let changes = ["--changes", "agent/*"]

    /// A change that is a branch.
    private func push(_ bench: Bench, _ files: [String: String], from base: String = "main") async throws -> String {
        try await bench.git(["checkout", "-q", "-B", "agent/one", base])
        let head = try await bench.commit(files, "Change")
        try await bench.git(["checkout", "-q", "main"])
        return head
    }

    private func tip(_ bench: Bench) async throws -> String { try await bench.git(["rev-parse", "agent/one"]) }

    @Test(.timeLimit(.minutes(8)))
    func `a fix is pushed to the change's branch and tested there`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt", ", push: .ownBranch")
            _ = try await bench.look("--changes", "agent/*")
            let head = try await push(bench, ["value.txt": "bad\n"])
            _ = try await bench.look("--changes", "agent/*")
            let series = try #require(try await Fixing.report(bench, 1).fixes)
            #expect(series.state == .pushed && series.reason.contains("pushed to agent/one"), "\(series)")
            let fix = try #require(series.attempts.first?.commit)
            #expect(try await tip(bench) == fix)
            #expect(try await bench.git(["rev-parse", "agent/one~1"]) == head)
            #expect(try await bench.git(["rev-parse", "main"]) != fix)

            // The pushed commit gets its own verdict like any push, and lands like any change.
            _ = try await bench.look("--changes", "agent/*")
            let own = try await bench.runs().filter { $0.head == fix && $0.fix == nil }
            #expect(own.map(\.verdict) == [.passed])
            try await bench.withDaemon("--changes", "agent/*") { daemon in
                let wait = try await bench.pipectl("wait", fix)
                #expect(wait.code == 0, "\(wait.errors)")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a pushed fix that fails starts no further fixer`() async throws {
        try await Bench.with { bench in
            // It passes when it is checked, and never again.
            var files = Fixing.files(bench, ", push: .ownBranch")
            files["check.sh"] = """
                grep -qx good value.txt || exit 1
                test -e \(bench.meet)/once && exit 1
                touch \(bench.meet)/once

                """
            files["workflows/x.swift"] = files["workflows/x.swift"]?.replacing(
                "Step(\"check\", needs: build, run: \"sh check.sh\")",
                with: "Step(\"check\", needs: build, run: \"sh check.sh\").neverProved()")
            try await bench.commit(files, "Fix")
            try Fixing.write(bench, "echo good > value.txt; date > new.txt")
            _ = try await bench.look("--changes", "agent/*")
            _ = try await push(bench, ["value.txt": "bad\n"])
            for _ in 1...3 { _ = try await bench.look("--changes", "agent/*") }
            let runs = try await bench.runs()
            #expect(runs.count == 4, "\(runs.map { "\($0.id) \($0.fix?.inWords ?? "-") \($0.reason ?? "")" })")
            let fixes = try #require(try await Fixing.report(bench, 4).fixes)
            #expect(fixes.state == .givenUp && fixes.reason.contains("is a fix"), "\(fixes)")
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `without a known branch or the policy a fix is not pushed`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt", ", push: .ownBranch")
            let series = try await Fixing.series(bench)
            #expect(
                series.state == .offered
                    && series.reason.contains("not pushed: the build box does not know the branch of refs/pull/1/head"))
            let refs = try await bench.git(["for-each-ref", "--format=%(refname)"])
            #expect(refs.split(separator: "\n").sorted() == ["refs/heads/main", "refs/pull/1/head"])
        }
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt")
            _ = try await bench.look("--changes", "agent/*")
            // The change's own definition allows the push; the target's does not.
            let head = try await push(
                bench, Fixing.files(bench, ", push: .ownBranch").merging(["value.txt": "bad\n"]) { $1 })
            _ = try await bench.look("--changes", "agent/*")
            #expect(try await Fixing.report(bench, 1).fixes?.state == .offered)
            #expect(try await tip(bench) == head)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a repository that refuses the push keeps its branch`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt", ", push: .ownBranch")
            _ = try await bench.look("--changes", "agent/*")
            let head = try await push(bench, ["value.txt": "bad\n"])
            let hook = "\(bench.repository)/.git/hooks/update"
            try Data("#!/bin/sh\necho nobody pushes here; exit 1\n".utf8).write(to: URL(fileURLWithPath: hook))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            _ = try await bench.look("--changes", "agent/*")
            let series = try #require(try await Fixing.report(bench, 1).fixes)
            #expect(series.state == .offered && series.reason.contains("not pushed: git push"), "\(series)")
            #expect(try await tip(bench) == head)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a fix is pushed to a remote as well`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt", ", push: .ownBranch")
            let look = bench.sharing([
                Bench.pipectl, "watch", "--once", "--minimum-free", "0", "--changes", "agent/*",
                "file://\(bench.repository)",
            ])
            #expect(try await bench.command(look).code == 0)
            let head = try await push(bench, ["value.txt": "bad\n"])
            _ = try await bench.command(look)
            let series = try #require(try await Fixing.report(bench, 1).fixes)
            #expect(series.state == .pushed, "\(series)")
            #expect(try await bench.git(["rev-parse", "agent/one~1"]) == head)
            #expect(try await tip(bench) == series.attempts.first?.commit)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a fix that touches protected paths needs approval again`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt", ", push: .ownBranch")
            let options = ["--changes", "agent/*", "--protect-paths", "more.txt"]
            try await bench.withDaemon(options[0], options[1], options[2], options[3]) { daemon in
                try await daemon.event(.baseline)
                let head = try await push(bench, ["value.txt": "bad\n", "more.txt": "more\n"])
                _ = try await bench.pipectl("notify", bench.repository)
                try await daemon.event(.runNeedsApproval, run: 1)
                #expect(try await bench.pipectl("approve", "1").code == 0)
                // The approval is valid for the fixer, which works on the same commit, but not for the commit that it
                // makes.
                try await daemon.event(.runNeedsApproval, run: 3)
                #expect(try await tip(bench) == head)
                #expect(try await bench.run(1).fixState == .working)
                #expect(try await bench.pipectl("approve", "3").code == 0)
                try await daemon.event(.fixState, run: 1) { $0.state == FixSeries.State.pushed.rawValue }
                #expect(try await tip(bench) != head)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a new push ends the fixer and is never overwritten`() async throws {
        try await Bench.with { bench in
            try bench.meetingPoint("started")
            try await Fixing.begin(
                bench, "echo up > \(bench.meet)/started; echo good > value.txt; sleep 1000", ", push: .ownBranch")
            try await bench.withDaemon("--changes", "agent/*") { daemon in
                try await daemon.event(.baseline)
                _ = try await push(bench, ["value.txt": "bad\n"])
                _ = try await bench.pipectl("notify", bench.repository)
                try await bench.arrival(at: "started")
                try Fixing.write(bench, "true")
                let newer = try await push(bench, ["value.txt": "good\n", "more.txt": "more\n"])
                _ = try await bench.pipectl("notify", bench.repository)
                #expect(try await bench.pipectl("wait", newer).code == 0)
                try await daemon.event(.fixState, run: 1) { $0.state == FixSeries.State.stopped.rawValue }
                let runs = try await bench.runs()
                #expect(runs.map(\.verdict) == [.passed, .superseded, .failed], "\(runs.map(\.reason))")
                #expect(try await tip(bench) == newer)
                let fixes = try #require(try await Fixing.report(bench, 1).fixes)
                #expect(fixes.state == .stopped && fixes.attempts.first?.verdict == .superseded, "\(fixes)")
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
