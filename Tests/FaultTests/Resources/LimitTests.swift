import DaemonLog
import TestBasics
import Reports
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The daemon's own limits: faults 18 and 19.
@Suite(.enabled(if: Machine.isLinux, "limits are set by prlimit(1)"))
struct LimitTests {
    @Test("fault 18: 64 descriptors for a hundred steps that are ready", .timeLimit(.minutes(6)))
    func descriptors() async throws {
        let steps = """
            for number in 1...100 { Step("step \\(number)", run: "echo \\(number)") }
            """
        try await Bench.with(Workflows.test(steps)) { bench in
            let limited = bench.launched(by: ["prlimit", "--nofile=64:64"])
            try await limited.withDaemon("--slots", "100") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.runQueued, run: 1)
                try await bench.follow(1)
                // The descriptors that it needs for other work while its steps run: commands and observations.
                #expect(try await bench.pipectl("status").code == 0)
                #expect(await daemon.stop() == 0)
            }
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
            #expect(found.runs.first?.stepCounts.passed == 100)
        }
    }

    @Test(
        "fault 19: no further process may be started for a while", .enabled(if: Machine.isRootOnLinux),
        .timeLimit(.minutes(6)))
    func processes() async throws {
        // A user of the test's own: the kernel counts processes by user, and does not limit root.
        let user = Int.random(in: 2_000_000...2_900_000)
        let runner = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
        let reachable = try await isReachable(runner)
        guard reachable else { return }
        try await Bench.faults { bench in
            // Compiled before, so that the run lacks processes and not the compiler.
            _ = try await bench.look()
            try await bench.command(["chown", "-R", "\(user):\(user)", bench.root]).succeeded()
            let user = bench.launched(by: runner).with(["HOME": bench.root, "TMPDIR": "/tmp"])
            try await user.withDaemon("--interval", "0.3") { daemon in
                try await push(1, bench, runner)
                try await daemon.event(.runQueued, run: 1)
                try await follow(1, bench, runner)
                let threads = try #require(daemon.status("Threads"))
                // The soft limit only, which its own user may lower and raise again.
                let limit = runner + ["prlimit", "--pid", "\(daemon.child.id)"]
                let before = try await bench.command(limit + ["--nproc", "--noheadings", "--output=SOFT"]).output
                // So few that the daemon survives and no stepinit can start.
                try await bench.command(limit + ["--nproc=\(threads + 2):"]).succeeded()
                try await push(2, bench, runner)
                try await daemon.event(.runQueued, run: 2)
                try await follow(2, bench, runner)
                let reason = try await bench.command(runner + [Bench.pipectl, "report", "2", "--format", "json"]).output
                #expect(reason.contains("Resource temporarily unavailable"), "\(reason)")
                try await bench.command(
                    limit + ["--nproc=\(before.trimmingCharacters(in: .whitespacesAndNewlines)):"]
                ).succeeded()
                try await push(3, bench, runner)
                try await daemon.event(.runQueued, run: 3)
                try await follow(3, bench, runner)
                #expect(await daemon.stop() == 0)
            }
            try await bench.command(["chown", "-R", "0:0", bench.root]).succeeded()
            let found = try await Invariants(bench: bench, accepted: [1, 2, 3]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed, .infrastructure, .passed], "\(found.runs.map(\.reason))")
        }
    }

    /// Whether that user can run pipectl.
    private func isReachable(_ runner: [String]) async throws -> Bool {
        try await CommandRunner().end(of: runner + [Bench.pipectl, "--version"]).code == 0
    }

    private func push(_ number: Int, _ bench: Bench, _ runner: [String]) async throws {
        let script = """
            head=$(git commit-tree -p main -m "Change $0" 'main^{tree}') && git update-ref "refs/pull/$0/head" "$head"
            """
        try await bench.command(runner + ["sh", "-c", script, "\(number)"], in: bench.repository).succeeded()
    }

    private func follow(_ run: Int, _ bench: Bench, _ runner: [String]) async throws {
        _ = try await bench.command(runner + [Bench.pipectl, "logs", "\(run)", "--follow"])
        // The log ends with its steps; the verdict comes a little later.
        try await eventually("the verdict of run \(run)", within: .seconds(300)) {
            let runs = try await bench.command(runner + [Bench.pipectl, "runs", "--json"])
            let found = try? ReportJSON.decoder().decode([RunSummary].self, from: Data(runs.output.utf8))
            return found?.contains { $0.id == RunID(run) && $0.verdict != nil } == true
        }
    }
}
