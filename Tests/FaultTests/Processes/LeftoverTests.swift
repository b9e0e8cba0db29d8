import Archive
import Engine
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Processes that a step leaves behind, and those it makes without end: faults 11 to 13.
struct LeftoverTests {
    @Test("fault 11: a grandchild in a session of its own keeps the step's output open", .timeLimit(.minutes(2)))
    func grandchild() async throws {
        let marker = Marker()
        let check = """
            echo before
            setsid sh -c 'trap "" TERM HUP; while :; do echo late; sleep 0.1\(marker); done' &
            sleep 0.3
            echo last
            """
        try await Bench.faults(["check.sh": check]) { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await bench.look().code == 0)
            #expect(clock.now - start < .seconds(20), "the step ends with its leader")
            #expect(marker.processes.isEmpty, "\(marker.processes) live on")
            let log = try await bench.pipectl("logs", "1").output
            #expect(log.hasPrefix("before\n"))
            #expect(log.contains("\nlast\n"), "what the leader wrote is complete: \(log)")
            let found = try await Invariants(bench: bench, accepted: [1], marker: marker).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test(
        "fault 12: a fork bomb hits the limit of processes; other runs go on",
        .disabled("steps have no limits yet"), .timeLimit(.minutes(3)))
    func forkBomb() async throws {
        let marker = Marker()
        try await Bench.faults { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "4") { daemon in
                _ = try await daemon.line("baseline of")
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/go\n"])
                try await bench.arrival(at: "started")
                try await bench.change(2, ["check.sh": "bomb() { sleep 1000.\(marker) & bomb & bomb; }; bomb; wait\n"])
                _ = try await daemon.line("run 2")
                try await bench.follow(2)
                #expect(try await marker.isGone(within: .seconds(5)), "\(marker.processes) live on")
                try await bench.release("go")
                try await bench.follow(1)
                #expect(await daemon.stop() == 0)
            }
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.failed, .passed])
            #expect(try await bench.report(2).contains("processes: "), "the breach has a name")
        }
    }

    @Test(
        "fault 13: a step that takes all memory dies alone", .disabled("steps have no limits yet"),
        .timeLimit(.minutes(3)))
    func allMemory() async throws {
        try await Bench.faults { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "4") { daemon in
                _ = try await daemon.line("baseline of")
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/go\n"])
                try await bench.arrival(at: "started")
                try await bench.change(2, ["check.sh": "tail /dev/zero\n"])
                _ = try await daemon.line("run 2")
                try await bench.follow(2)
                try await bench.release("go")
                try await bench.follow(1)
                #expect(await daemon.stop() == 0)
            }
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.failed, .passed])
            #expect(try await bench.report(2).contains("memory: "), "the breach has a name")
        }
    }
}
