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

/// Processes that a step leaves, and steps that start processes without end: faults 11 to 13.
struct LeftoverTests {
    @Test("fault 11: a grandchild in a session of its own keeps the step's output open", .timeLimit(.minutes(6)))
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
            #expect(clock.now - start < .seconds(120), "the step ends with its leader")
            #expect(marker.processes.isEmpty, "\(marker.processes) live on")
            let log = try await bench.pipectl("logs", "1").output
            #expect(log.hasPrefix("before\n"))
            #expect(log.contains("\nlast\n"), "what the leader wrote is complete: \(log)")
            let found = try await Invariants(bench: bench, accepted: [1], marker: marker).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test("fault 12: a fork bomb hits the limit of processes; other runs go on", .timeLimit(.minutes(6)))
    func forkBomb() async throws {
        let marker = Marker()
        let bomb = "bomb() { sleep 1000.\(marker) & bomb & bomb; }; bomb; wait\n"
        try await besideAnother(limit: ".processes(50)", greedy: bomb) { report in
            let isGone = try await marker.isGone(within: .seconds(60))
            #expect(isGone, "\(marker.processes) live on")
            #expect(report.contains("processes: 50 limit reached by step check"), "\(report.prefix(2000))")
        }
    }

    @Test("fault 13: a step that takes all memory dies alone", .timeLimit(.minutes(6)))
    func allMemory() async throws {
        try await besideAnother(limit: ".memory(.mebibytes(100))", greedy: "tail /dev/zero\n") { report in
            #expect(report.contains("memory: 100.0 MiB limit reached by step check"), "\(report.prefix(2000))")
        }
    }

    /// Runs a step that exceeds its limit while another run waits, which then continues and passes.
    private func besideAnother(limit: String, greedy: String, check: (String) async throws -> Void) async throws {
        let workflow = Workflows.source("Step(\"check\", run: \"sh check.sh\").limits(\(limit))")
        try await Bench.with(["workflows/x.swift": workflow, "check.sh": "echo checked\n"]) { bench in
            // Only control groups count the processes and memory of a whole step, and name the limit.
            guard try await bench.pipectl("doctor").output.contains("cgroup v") else { return }
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "4") { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/go\n"])
                try await bench.arrival(at: "started")
                try await bench.change(2, ["check.sh": greedy])
                try await daemon.event(.runQueued, run: 2)
                try await bench.follow(2)
                try await check(try await bench.report(2))
                try await bench.release("go")
                try await bench.follow(1)
                #expect(await daemon.stop() == 0)
            }
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.failed, .passed])
        }
    }
}
