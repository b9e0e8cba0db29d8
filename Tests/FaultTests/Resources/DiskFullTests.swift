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

/// A disk that is full: faults 16 and 17.
@Suite(.enabled(if: Machine.isRootOnLinux, "a small disk is mounted by root only"))
struct DiskFullTests {
    @Test("fault 16: the disk is full while a log is written", .timeLimit(.minutes(6)))
    func whileLogging() async throws {
        try await SmallDisk.faults(megabytes: 64) { bench, disk in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            let script = """
                echo begin; echo up > \(bench.meet)/started; cat \(bench.meet)/go
                head -c 2000000 /dev/zero | tr '\\0' x; \(bench.effect("through"))
                """
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                try await disk.fill()
                try await bench.release("go")
                #expect(
                    try await becomesTrue(within: .seconds(120)) { bench.effects == ["through"] },
                    "the step is not blocked by a log that can't be written")
                // The verdict uses the reserve's space; no other file has been deleted yet.
                try await daemon.event(.recorded, run: 1)
                try disk.makeRoom()
                try await bench.follow(1)
                let report = try await bench.report(1)
                #expect(report.contains("disk full"), "\(report.prefix(3000))")
                try await bench.change(2, ["a.txt": "a\n"])
                try await daemon.event(.runQueued, run: 2)
                try await bench.follow(2)
                #expect(await daemon.stop() == 0)
            }
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed, .infrastructure], "space is back: the next run passes")
        }
    }

    @Test("fault 16: a log fills the disk by itself", .timeLimit(.minutes(6)))
    func aLogThatIsTooLarge() async throws {
        try await SmallDisk.faults(megabytes: 64) { bench, _ in
            // Data that can't be compressed and exceeds the disk.
            let script = "head -c 200000000 /dev/urandom; \(bench.effect("through"))\n"
            try await bench.withDaemon("--log-limit", "400") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                #expect(try await becomesTrue(within: .seconds(120)) { bench.effects == ["through"] })
                #expect(
                    try await becomesTrue(within: .seconds(120)) { try await bench.run(1).state == .ended },
                    "nobody but the run itself can make room, so it must: \(daemon.text)")
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.runs().map(\.verdict) == [.infrastructure])
        }
    }

    @Test("fault 17: the disk is full when a run is recorded", .timeLimit(.minutes(6)))
    func whileRecording() async throws {
        try await SmallDisk.faults(megabytes: 64) { bench, disk in
            try await bench.withDaemon("--interval", "0.3") { daemon in
                try await daemon.event(.baseline)
                try await disk.fill()
                let head = try await bench.change(1, ["check.sh": bench.effect("tested")])
                // If the write-ahead log has space left, the run is recorded and waits; otherwise it is found again
                // later.
                let isSaid = try await becomesTrue(within: .seconds(120)) {
                    !daemon.events(.repositoryUnreadable).isEmpty || !daemon.events(.diskFull).isEmpty
                }
                #expect(isSaid, "it says what it waits for: \(daemon.text)")
                #expect(bench.effects.isEmpty)
                try disk.makeRoom()
                try await daemon.event(.runQueued, run: 1)
                try await bench.follow(1)
                #expect(bench.effects == ["tested"])
                #expect(
                    daemon.events(.repositoryUnreadable).count <= 3, "a full disk does not fill the log")
                #expect(await daemon.stop() == 0)
                let found = try await Invariants(bench: bench, expected: ["test \(head)"], accepted: [1]).check()
                #expect(found.isClean, "\(found.problems)")
                #expect(found.runs.map(\.verdict) == [.passed])
            }
        }
    }

    @Test("fault 17: outputs for later runs go before the report of this one", .timeLimit(.minutes(6)))
    func outputsThatFindNoRoom() async throws {
        let workflow = Workflows.source(
            """
            let made = Step("made", run: "mkdir out; head -c 10000000 /dev/urandom > out/a")
                .inputs("check.sh").outputs("out/**")
            made
            Step("check", needs: made, run: "sh check.sh")
            """)
        try await SmallDisk.faults(megabytes: 64, ["workflows/x.swift": workflow]) { bench, disk in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            // Its log is empty and needs no space.
            let script = """
                echo up > \(bench.meet)/started; cat \(bench.meet)/go > /dev/null; \(bench.effect("tested"))

                """
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                try await disk.fill(keepsReserve: false)
                try await bench.release("go")
                try await daemon.event(.reportShortened)
                try await bench.follow(1)
                #expect(await daemon.stop() == 0)
            }
            try disk.makeRoom()
            #expect(bench.effects == ["tested"])
            #expect(try await bench.report(1).contains("the outputs of its steps (9 MiB) were not stored"))
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
        }
    }

    @Test("fault 17: whoever ends the box twice is not kept waiting by the disk", .timeLimit(.minutes(6)))
    func shutDownWhileFinishing() async throws {
        try await SmallDisk.faults(megabytes: 64) { bench, disk in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            let script = """
                test "$PIPECTL_RUN_ATTEMPT" = 2 && exit 0
                echo up > \(bench.meet)/started; cat \(bench.meet)/go

                """
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                try await disk.fill(keepsReserve: false)
                try await bench.release("go")
                try await daemon.event(.recordingDelayed)
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                #expect(await daemon.stop() == 0)
                #expect(!daemon.events(.recordingFailed, run: 1).isEmpty, "\(daemon.text)")
            }
            try disk.makeRoom()
            let after = try await bench.look()
            #expect(after.errors.contains("run 1 was interrupted and is queued for attempt 2"), "\(after.errors)")
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
        }
    }

    @Test("fault 17: the disk is full when a verdict is recorded", .timeLimit(.minutes(6)))
    func whileFinishing() async throws {
        try await SmallDisk.faults(megabytes: 64) { bench, disk in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            let script = "echo up > \(bench.meet)/started; cat \(bench.meet)/go; \(bench.effect("tested"))\n"
            try await bench.withDaemon("--interval", "0.3") { daemon in
                try await daemon.event(.baseline)
                let head = try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                try await disk.fill(keepsReserve: false)
                try await bench.release("go")
                try await daemon.event(.recordingDelayed, run: 1)
                try disk.makeRoom()
                try await bench.follow(1)
                #expect(await daemon.stop() == 0)
                #expect(bench.effects == ["tested"], "the verdict was kept: nothing is run twice")
                let found = try await Invariants(bench: bench, expected: ["test \(head)"], accepted: [1]).check()
                #expect(found.isClean, "\(found.problems)")
                #expect(found.runs.first?.verdict != nil)
            }
        }
    }
}
