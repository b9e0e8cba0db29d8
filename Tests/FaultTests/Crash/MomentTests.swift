import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The daemon ends by SIGKILL at one chosen moment: faults 1 to 6.
@Suite(.enabled(if: Machine.isLinux, "the moment is chosen by a preloaded library"))
struct MomentTests {
    @Test("fault 1: killed between the look at the refs and the record of the run", .timeLimit(.minutes(6)))
    func betweenSnapshotAndInsert() async throws {
        try await Bench.faults { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let head = try await bench.change(1, ["a.txt": "a\n"])
            // The first frame of the transaction: the refs were read, but nothing is recorded.
            let moment = Moment(match: "write \(bench.home)/index.sqlite-wal", number: 2)
            #expect(try await bench.look(killedAt: moment, shim) == "write /index.sqlite-wal")
            let after = try await bench.look()
            #expect(after.errors.contains("run 1 test"), "it was not recorded before: \(after.errors)")
            #expect(try await bench.look().errors.contains("nothing to run"))
            let found = try await Invariants(bench: bench, expected: ["test \(head)"]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
        }
    }

    @Test("fault 2: killed between the record of the run and its first process", .timeLimit(.minutes(6)))
    func betweenInsertAndSpawn() async throws {
        try await Bench.faults(["check.sh": "echo attempt $PIPECTL_RUN_ATTEMPT\n"]) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let head = try await bench.change(1, ["a.txt": "a\n"])
            let hit = try await bench.look(killedAt: Machine.firstProcess, shim)
            #expect(hit?.hasPrefix("spawn ") == true, "\(hit ?? "nothing was hit")")
            let after = try await bench.look()
            #expect(after.errors.contains("run 1 was interrupted and is queued for attempt 2"), "\(after.errors)")
            #expect(!after.errors.contains("run 2"))
            let found = try await Invariants(bench: bench, expected: ["test \(head)"], accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
            #expect(found.runs.map(\.attempt) == [2])
        }
    }

    @Test("fault 3: killed while four steps run", .timeLimit(.minutes(6)))
    func whileFourStepsRun() async throws {
        let marker = Marker()
        // Each step has a child in a session of its own that ignores SIGTERM.
        let part = """
            test "$PIPECTL_RUN_ATTEMPT" = 2 && exit 0
            setsid sh -c 'trap "" TERM; sleep 1000.\(marker)' &
            sleep 1000.\(marker)
            """
        try await Bench.faults(["part.sh": part]) { bench in
            try await bench.withDaemon("--slots", "4") { daemon in
                try await daemon.event(.baseline)
                let started = try await bench.pipectl("run", "four", "--ref", "main", "--detach")
                #expect(started.output == "1\n", "\(started.errors)")
                #expect(try await becomesTrue(within: .seconds(120)) { marker.processes.count >= 12 })
                daemon.child.kill()
                #expect(await daemon.child.end == 128 + SIGKILL)
                #expect(try await marker.isGone(within: .seconds(60)), "\(marker.processes) live on")
            }
            let after = try await bench.look()
            #expect(after.errors.contains("run 1 was interrupted and is queued for attempt 2"), "\(after.errors)")
            let found = try await Invariants(bench: bench, accepted: [1], marker: marker).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
            #expect(try await bench.report(1).contains("the daemon ended during attempt 1"))
        }
    }

    @Test("fault 4: killed after a release step acted, before its result is stored", .timeLimit(.minutes(6)))
    func afterTheEffectOfARelease() async throws {
        // Its log is too large for the index, so it is on disk before the transaction that ends the run.
        try await release(killedAtFirst: "link", of: "archive-queue/1/logs", .infrastructure)
    }

    @Test("fault 4: killed when the run has its verdict, before it is archived", .timeLimit(.minutes(6)))
    func betweenTheVerdictAndTheArchive() async throws {
        // It declares files that it does not make.
        try await release(killedAtFirst: "create", of: "archive.git/objects", .failed)
    }

    private func release(killedAtFirst call: String, of part: String, _ verdict: Verdict) async throws {
        try await Bench.faults { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let script = "seq 1 100000; \(bench.effect("release-$PIPECTL_RUN"))\n"
            try await bench.commit(["release.sh": script], "Release")
            // The step has ended.
            let moment = Moment(match: "\(call) \(bench.home)/\(part)", number: 1)
            #expect(try await bench.look(killedAt: moment, shim) != nil)
            #expect(bench.effects == ["release-1"])
            for _ in 1...2 {
                _ = try await bench.look()
                #expect(bench.effects == ["release-1"], "a release must not be run again by itself")
            }
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [verdict])
            let reason = found.runs.first?.reason ?? ""
            #expect(reason.contains("by hand") == (verdict == .infrastructure), "\(reason)")
        }
    }

    @Test("fault 5: killed while an artifact is archived", .timeLimit(.minutes(6)), arguments: [false, true])
    func whileAnArtifactIsArchived(isTorn: Bool) async throws {
        // A change archives artifacts too if the workflow says so. It is a test run, so it may be repeated.
        let workflow = Workflows.source("Step(\"check\", run: \"sh check.sh\").neverProved().artifacts(\"dist/*\")")
        // Each change has other contents, since existing files are not written again.
        let check = """
            mkdir dist; seq $PIPECTL_CHANGE 200000 > dist/a.bin; seq $PIPECTL_CHANGE 300000 > dist/b.bin
            """
        try await Bench.with(["workflows/x.swift": workflow, "check.sh": check]) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            var heads: [String] = []
            var hits: [String] = []
            // Every write, rename and flush on the way of the artifacts into the archive, one after the other.
            for number in 1...40 {
                heads.append(try await bench.change(number, ["a.txt": "\(number)\n"]))
                let moment = Moment(match: " \(bench.home)/artifacts", number: number, isTorn: isTorn)
                guard let hit = try await bench.look(killedAt: moment, shim) else { break }
                hits.append(hit)
                let kept = try await bench.command(["find", "\(bench.home)/artifacts", "-type", "f", "-size", "+0"])
                for path in kept.output.split(separator: "\n") where !path.contains("tmp") {
                    let sum = try await bench.command(["sha256sum", String(path)]).output.prefix(64)
                    let name = path.split(separator: "/").suffix(2).joined()
                    #expect(name == sum, "a file under its digest's name is whole at any time: \(path)")
                }
                #expect(try await bench.look().code == 0, "after \(hit)")
            }
            #expect(hits.count >= 4, "\(hits)")
            let expected = Set(heads.map { "test \($0)" })
            let found = try await Invariants(bench: bench, expected: expected).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.allSatisfy { $0.verdict == .passed })
            let left = try await bench.command(["find", "\(bench.home)/artifacts", "-type", "f"]).output
            let count = left.split(separator: "\n").count
            #expect(count == 2 * heads.count, "two artifacts of each, and nothing half-written: \(left)")
        }
    }

    @Test(
        "fault 16: what a release made can't be kept", .timeLimit(.minutes(6)), arguments: [EIO, ENOSPC],
        ["create", "write", "rename"])
    func anArtifactIsRefused(code: Int32, call: String) async throws {
        try await Bench.faults { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let script = "mkdir dist; echo a > dist/a.bin; \(bench.effect("release-$PIPECTL_RUN"))\n"
            try await bench.commit(["release.sh": script], "Release")
            let moment = Moment(match: "\(call) \(bench.home)/live/1-1/artifacts/", number: 1, refusal: code)
            let (hit, ended) = try #require(try await bench.look(hitAt: moment, shim))
            #expect(hit.hasPrefix("\(call) /live/1-1/artifacts/"))
            #expect(ended.code == 3, "it is no failure of the change: \(ended.errors)")
            #expect(try await bench.look().errors.contains("nothing to run"))
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            let reason = found.runs.first?.reason ?? ""
            #expect(reason.contains("its artifact dist/a.bin could not be stored"), "\(reason)")
            #expect(reason.contains("by hand"), "\(reason)")
            #expect(reason.contains("disk full") == (code == ENOSPC), "\(reason)")
        }
    }

    @Test("fault 6: killed while a log is written", .timeLimit(.minutes(6)))
    func whileALogIsWritten() async throws {
        let check = """
            test "$PIPECTL_RUN_ATTEMPT" = 2 && exit 0
            seq -f 'line %.0f of the log' 1 100000000
            """
        try await Bench.faults(["check.sh": check]) { bench in
            let log = "\(bench.home)/live/1-1/logs/001-1.log"
            var text = Data()
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["a.txt": "a\n"])
                let size = { (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0 }
                #expect(try await becomesTrue(within: .seconds(120)) { size() > 1_000_000 })
                daemon.child.kill()
                #expect(await daemon.child.end == 128 + SIGKILL)
                text = try #require(FileManager.default.contents(atPath: log))
            }
            var expected = Data()
            var line = 1
            while expected.count < text.count {
                expected += Data("line \(line) of the log\n".utf8)
                line += 1
            }
            #expect(expected.prefix(text.count) == text, "the log is the exact start of the output")
            _ = try await bench.look()
            #expect(try await bench.report(1).contains("the daemon ended during attempt 1"))
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }
}
