import Results
import Foundation
import GRDB
import TestBasics
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `kill -9` at random moments over a load of changes and releases: fault 7.
struct KillLoopTests {
    struct Counts: Codable {
        var seed: UInt64
        var kills = 0
        var accepted = 0
        var withOneVerdict = 0
        var passed = 0
        /// False verdicts, since no step can fail.
        var failed = 0
        var superseded = 0
        var needAPerson = 0
        /// Runs that needed more than one attempt.
        var repeated = 0
        var lost = 0
        var doubled = 0
        var withoutVerdict = 0
        var processesLeft = 0
        var damaged = 0
        var leftovers = 0
        var seconds = 0.0
        /// The duration of a run without interruption, in seconds.
        var meanRun = 0.0
    }

    @Test("fault 7: kill -9 at random moments over a load of runs", .timeLimit(.minutes(120)))
    func randomMoments() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var counts = Counts(seed: Form.seed)
        var seeded = SplitMix64(seed: Form.seed)
        // At most a few hundred runs for each state folder, so that each start takes as long as for a fresh daemon.
        while counts.kills < Form.kills {
            try await round(min(Form.kills - counts.kills, 100), &seeded, &counts)
        }
        let spent = (clock.now - start).components
        counts.seconds = Double(spent.seconds) + Double(spent.attoseconds) / 1e18
        #expect(counts.accepted >= 50)
        #expect(counts.withOneVerdict == counts.accepted)
        try Form.report("kills", counts)
    }

    private func round(_ kills: Int, _ seeded: inout SplitMix64, _ counts: inout Counts) async throws {
        let marker = Marker()
        var random = seeded
        defer { seeded = random }
        // Four concurrent steps for every fourth change, one for the others; each takes a random time.
        let workflow = """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) { context in
                for part in 1...((Int(context.change?.name ?? "") ?? 1) % 4 == 0 ? 4 : 1) {
                    Step("part \\(part)", run: "sh check.sh \\(part)").neverProved()
                }
            }
            let release = Workflow("release", on: .merge(into: "main")) {
                Step("pack", run: "sh release.sh").artifacts("dist/*.bin")
            }
            .concurrency(.queue(max: 1_000))
            @main struct Workflows: WorkflowSet { static let workflows = [test, release] }

            """
        let check = "echo part $1 begins; sleep 0.0$((PIPECTL_CHANGE % 8))\(marker); echo part $1 ends\n"
        let files = ["workflows/x.swift": workflow, "check.sh": check, "release.sh": ""]
        try await Bench.with(files, on: Machine.fastDisk) { bench in
            let release = "mkdir dist; seq 1 2000 > dist/a.bin; \(bench.effect("release-$PIPECTL_RUN"))\n"
            try await bench.commit(["release.sh": release], "Say it")
            _ = try await bench.look()
            var load = try await KillLoad(bench, marker: marker, changes: max(60, kills + 20))
            try await load.push(changes: 20, releases: 1)
            for _ in 1...kills {
                let delay = Duration.milliseconds(Int.random(in: 0...700, using: &random))
                try await load.killDaemon(after: delay)
                counts.kills += 1
                let isLive = try await !marker.isGone(within: .seconds(60))
                #expect(!isLive, "processes \(marker.processes) outlived the daemon")
                if isLive { counts.processesLeft += 1 }
                try await load.push(
                    changes: Int.random(in: 0...2, using: &random), releases: Int.random(in: 0...1, using: &random))
            }
            try await load.push(changes: .max, releases: 1)
            let drained = try await bench.command(
                [Bench.pipectl, "watch", "--once", "--log-format", "json", "--minimum-free", "0", bench.repository],
                within: .seconds(600))
            #expect([0, 3].contains(drained.code), "\(drained.errors)")
            load.hear(drained.errors)
            let found = try await load.invariants().check()
            #expect(found.isClean, "seed \(Form.seed): \(found.problems)")
            counts.take(found, load.accepted)
            // No step of this load can fail, so such a verdict is false.
            for run in found.runs where run.verdict == .failed {
                let log = try await bench.pipectl("logs", "\(run.id)")
                Issue.record("run \(run.id) failed: \(try await bench.report(Int(run.id)))\n\(log.output)\(log.errors)")
            }
            counts.meanRun = try await meanRun(bench)
        }
    }

    private func meanRun(_ bench: Bench) async throws -> Double {
        let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
        return try await queue.read { db in
            try Double.fetchOne(
                db, sql: "SELECT avg(endedAt - startedAt) FROM run WHERE attempt = 1 AND verdict = 'passed'") ?? 0
        } / 1_000
    }
}

extension KillLoopTests.Counts {
    mutating func take(_ found: Invariants.Found, _ told: Set<Int64>) {
        accepted += told.union(found.runs.map(\.id)).count
        withOneVerdict += found.runs.count { $0.verdict != nil && $0.isArchived }
        passed += found.runs.count { $0.verdict == .passed }
        failed += found.runs.count { $0.verdict == .failed }
        superseded += found.runs.count { $0.verdict == .superseded }
        needAPerson += found.runs.count { $0.verdict == .infrastructure }
        repeated += found.runs.count { $0.attempt > 1 }
        lost += found.lost.count
        doubled += found.doubled.count
        withoutVerdict += found.unfinished.count
        processesLeft += found.processes.count
        damaged += found.damage.count
        leftovers += found.leftovers.count
    }
}
