import DaemonLog
import Results
import Foundation
import TestBasics
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Remotes that don't answer, and a daemon that is ended while it fetches: faults 9 and 26.
struct RemoteTests {
    /// Children of pipectl that fetch into this bench's state.
    private func fetching(_ bench: Bench) async throws -> String {
        try await bench.command(["pgrep", "-f", "fetch-mirror \(bench.home)/"]).output
    }

    @Test(
        "fault 26: a remote takes the connection and stays silent", .timeLimit(.minutes(6)), arguments: ["git", "http"])
    func silence(scheme: String) async throws {
        let server = try SilentServer()
        try await Bench.faults { bench in
            let url = "\(scheme)://127.0.0.1:\(server.port)/away.git"
            try await bench.withDaemon("--fetch-deadline", "1", "--interval", "0.5", url) { daemon in
                let said = try await daemon.event(.repositoryUnreadable)
                #expect(said.repository == "away" && said.message.contains("took longer than 1 s"), "\(said)")
                #expect(server.visits >= 1)
                for number in 1...3 {
                    try await bench.change(number, ["n.txt": "\(number)\n"])
                    try await daemon.event(.runQueued, run: RunID(number))
                    try await bench.follow(number)
                }
                #expect(try await becomesTrue(within: .seconds(120)) { server.visits >= 3 }, "it is tried again")
                #expect(await daemon.stop() == 0)
                #expect(
                    daemon.events(.repositoryUnreadable).count == 1,
                    "a remote that is away does not fill the log: \(daemon.text)")
            }
            #expect(try await fetching(bench).isEmpty, "no fetch lives on")
            let found = try await Invariants(bench: bench, accepted: [1, 2, 3]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.allSatisfy { $0.verdict == .passed })
        }
    }

    @Test("fault 9: SIGTERM while a fetch waits for a silent remote", .timeLimit(.minutes(6)))
    func stopWhileWaiting() async throws {
        let server = try SilentServer()
        try await Bench.faults { bench in
            try await bench.withDaemon("git://127.0.0.1:\(server.port)/away.git") { daemon in
                let isVisited = try await becomesTrue(within: .seconds(120)) { server.visits >= 1 }
                #expect(isVisited)
                #expect(try await !fetching(bench).isEmpty)
                let clock = ContinuousClock()
                let start = clock.now
                #expect(await daemon.stop() == 0)
                #expect(clock.now - start < .seconds(120), "it does not wait for the deadline of five minutes")
            }
            #expect(try await fetching(bench).isEmpty, "no fetch lives on")
        }
    }

    @Test("fault 9: SIGKILL while a fetch waits for a silent remote", .timeLimit(.minutes(6)))
    func killWhileWaiting() async throws {
        let server = try SilentServer()
        try await Bench.faults { bench in
            try await bench.withDaemon("git://127.0.0.1:\(server.port)/away.git") { daemon in
                let isVisited = try await becomesTrue(within: .seconds(120)) { server.visits >= 1 }
                #expect(isVisited)
                daemon.child.kill()
                _ = await daemon.child.end
                let isGone = try await becomesTrue(within: .seconds(60)) { try await fetching(bench).isEmpty }
                #expect(isGone, "the fetch outlives the daemon")
            }
        }
    }

    @Test(
        "fault 9: SIGTERM and SIGKILL in the middle of a fetch leave the old refs or the new", .timeLimit(.minutes(10)))
    func stopWhileFetching() async throws {
        var random = SplitMix64(seed: Form.seed)
        try await Bench.faults { bench in
            let url = "file://\(bench.repository)"
            let mirror = "\(bench.home)/mirrors/repo.git"
            func look() async throws -> Ended {
                try await bench.command([Bench.pipectl, "watch", "--once", "--minimum-free", "0", url])
            }
            #expect(try await look().code == 0)
            for round in 1...(Form.isLong ? 60 : 6) {
                // Much data to copy, in one commit for a change and one for main.
                let blob = "seq \(round)000000 \(round)200000 > big.txt; git add -A; git commit -qm big"
                try await bench.command(
                    ["sh", "-c", "\(blob); git update-ref refs/pull/\(round)/head HEAD"], in: bench.repository
                ).succeeded()
                let old = try await refs(mirror, bench)
                let child = try Child(
                    [Bench.pipectl, "watch", "--minimum-free", "0", url], in: bench.root,
                    environment: bench.environment, output: "\(bench.root)/fetcher-")
                _ = try await becomesTrue(within: .seconds(10)) { try await !fetching(bench).isEmpty }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...80, using: &random)))
                if round % 2 == 0 { child.kill() } else { child.signal(SIGTERM) }
                async let _: Void = child.kill(after: .seconds(300))
                let code = await child.end
                #expect(round % 2 == 0 || code == 0, "ended with \(code)")
                #expect(
                    try await becomesTrue(within: .seconds(60)) { try await fetching(bench).isEmpty },
                    "a fetch lives on"
                )
                let new = try await refs(bench.repository, bench)
                let now = try await refs(mirror, bench)
                for (ref, commit) in now { #expect([old[ref], new[ref]].contains(commit), "\(ref) is \(commit)") }
                try await bench.git(["fsck", "--connectivity-only"], in: mirror)
            }
            let after = try await look()
            #expect(after.code == 0 || after.code == 3, "\(after.errors)")
            #expect(try await refs(mirror, bench) == refs(bench.repository, bench))
            let left = try await bench.command(["find", mirror, "-name", "pack_git2_*"]).output
            #expect(left.isEmpty, "half a pack is left: \(left)")
        }
    }

    private func refs(_ repository: String, _ bench: Bench) async throws -> [String: String] {
        let lines = try await bench.git(
            ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/pull"], in: repository)
        return Dictionary(
            uniqueKeysWithValues: lines.split(separator: "\n").map { line in
                let words = line.split(separator: " ").map(String.init)
                return (words[0], words[1])
            })
    }
}
