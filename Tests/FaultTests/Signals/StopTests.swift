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

/// The daemon's reaction to SIGTERM, and that of steps: faults 8 and 10.
struct StopTests {
    /// A change's script that reports its start and waits until the test lets it continue.
    private func waiting(_ bench: Bench, _ name: String) -> String {
        "\(bench.effect(name)); echo up > \(bench.meet)/started; cat \(bench.meet)/go\n"
    }

    @Test("fault 8: SIGTERM lets what runs end, and starts nothing more", .timeLimit(.minutes(6)))
    func drain() async throws {
        try await Bench.faults { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "4") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": waiting(bench, "first")])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                try await bench.change(2, ["check.sh": bench.effect("second")])
                _ = try await bench.pipectl("notify")
                try await bench.release("go")
                #expect(await daemon.end() == 0)
            }
            #expect(bench.effects == ["first"], "nothing was started after SIGTERM")
            _ = try await bench.look()
            #expect(bench.effects == ["first", "second"], "the next start takes what came meanwhile")
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed, .passed])
        }
    }

    @Test("fault 8: a second SIGTERM cancels what runs, with grace", .timeLimit(.minutes(6)))
    func cancel() async throws {
        try await Bench.faults { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            let script = "trap '\(bench.effect("tidied")); exit 7' TERM\n\(waiting(bench, "first"))"
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGTERM)
                try await daemon.event(.shuttingDown)
                daemon.child.signal(SIGTERM)
                try await daemon.event(.cancellingRuns)
                #expect(await daemon.end() == 0)
            }
            #expect(bench.effects == ["first", "tidied"], "the step had time to tidy up")
            let found = try await Invariants(bench: bench, accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.cancelled])
        }
    }

    @Test("fault 8: a third SIGTERM ends the daemon at once", .timeLimit(.minutes(6)))
    func endAtOnce() async throws {
        let marker = Marker()
        try await Bench.faults { bench in
            try bench.meetingPoint("started")
            let script = """
                test "$PIPECTL_RUN_ATTEMPT" = 2 && exit 0
                trap '' TERM; echo up > \(bench.meet)/started; sleep 1000.\(marker)
                """
            try await bench.withDaemon("--grace", "600") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                for code in [LogCode.shuttingDown, .cancellingRuns] {
                    daemon.child.signal(SIGTERM)
                    try await daemon.event(code)
                }
                daemon.child.signal(SIGTERM)
                #expect(await daemon.end() == 130)
                #expect(try await marker.isGone(within: .seconds(60)), "\(marker.processes) live on")
            }
            _ = try await bench.look()
            let found = try await Invariants(bench: bench, accepted: [1], marker: marker).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test("fault 10: a step that ignores SIGTERM is killed after the grace", .timeLimit(.minutes(6)))
    func deafStep() async throws {
        let marker = Marker()
        try await Bench.faults { bench in
            try bench.meetingPoint("started")
            let script = "trap '' TERM; echo up > \(bench.meet)/started; while :; do sleep 1000.\(marker); done\n"
            try await bench.withDaemon("--grace", "1") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                #expect(try await bench.pipectl("cancel", "1").code == 0)
                try await bench.follow(1)
                #expect(try await marker.isGone(within: .seconds(60)), "\(marker.processes) live on")
                #expect(try await bench.report(1).contains("it ignored SIGTERM for 1 s and was killed"))
                #expect(await daemon.stop() == 0)
            }
            let found = try await Invariants(bench: bench, accepted: [1], marker: marker).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.cancelled])
        }
    }
}
