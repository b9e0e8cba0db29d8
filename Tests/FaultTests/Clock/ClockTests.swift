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

/// A clock that jumps, and a daemon that is stopped for a while: faults 20 and 21.
@Suite(.enabled(if: Machine.isLinux, "the clock is moved by a preloaded library"))
struct ClockTests {
    @Test("fault 20: the clock jumps by a year and back by a day while runs go on", .timeLimit(.minutes(6)))
    func jumps() async throws {
        let day: Int64 = 86_400
        try await Bench.faults { bench in
            let shim = try await Shim(.clock, bench)
            for name in ["started", "go1", "go2", "go3"] { try bench.meetingPoint(name) }
            let moved = bench.with(
                shim.variables(["FAULT_CLOCK": "\(bench.root)/clock", "FAULT_CLOCK_SEEN": "\(bench.root)/seen"]))
            let waiting = "echo up > \(bench.meet)/started; cat \(bench.meet)/go$PIPECTL_CHANGE\n"
            try await moved.withDaemon("--interval", "0.2", "--slots", "4") { daemon in
                try await daemon.event(.baseline)
                for (number, offset) in [(1, 365 * day), (2, -day), (3, 0)] {
                    try await bench.change(number, ["check.sh": waiting])
                    try await bench.arrival(at: "started")
                    let seen = try self.number(in: "\(bench.root)/seen")
                    try set(offset, "\(bench.root)/clock")
                    if offset != 0 {
                        // The daemon has read the clock again many times.
                        #expect(
                            try await becomesTrue(within: .seconds(120)) {
                                try self.number(in: "\(bench.root)/seen") > seen + 20
                            })
                    }
                }
                let status = try await bench.pipectl("status", "--json").output
                #expect(
                    status.components(separatedBy: "\"phase\" : \"running\"").count == 4, "all three run on: \(status)")
                for number in 1...3 { try await bench.release("go\(number)") }
                for run in 1...3 { try await bench.follow(run) }
                #expect(await daemon.stop() == 0)
            }
            let found = try await Invariants(bench: bench, accepted: [1, 2, 3]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed, .passed, .passed], "nothing timed out")
            #expect(found.runs.map(\.id) == [3, 2, 1], "the order is that of the numbers, not of the clock")
            #expect(found.runs.map(\.change) == ["3", "2", "1"])
        }
    }

    @Test("fault 21: the daemon is stopped while a step ends and others are pushed", .timeLimit(.minutes(20)))
    func stopped() async throws {
        let pause = Form.isLong ? 600 : 32
        let workflow = Workflows.source("Step(\"check\", run: \"sh check.sh\").timeout(.seconds(30))")
        try await Bench.with(["workflows/x.swift": workflow, "check.sh": "echo fine\n"]) { bench in
            for name in ["started", "go"] { try bench.meetingPoint(name) }
            try await bench.withDaemon("--slots", "4") { daemon in
                try await daemon.event(.baseline)
                let script = "echo up > \(bench.meet)/started; cat \(bench.meet)/go; \(bench.effect("ended"))\n"
                try await bench.change(1, ["check.sh": script])
                try await bench.arrival(at: "started")
                daemon.child.signal(SIGSTOP)
                // The step ends well within its limit, but the daemon sees that late.
                try await bench.release("go")
                #expect(try await becomesTrue(within: .seconds(30)) { bench.effects == ["ended"] })
                var last = ""
                for number in 2...4 { last = try await bench.change(number, ["n.txt": "\(number)\n"]) }
                last = try await bench.change(4, ["n.txt": "again\n"])
                // The length of the stop is the fault itself.
                try await Task.sleep(for: .seconds(pause))
                daemon.child.signal(SIGCONT)
                try await daemon.event(.runQueued, run: 4)
                for run in 1...4 { try await bench.follow(run) }
                #expect(await daemon.stop() == 0)
                let runs = try await bench.runs()
                #expect(runs.count == 4, "one snapshot catches up: the overwritten push has no run")
                #expect(runs.first { $0.change == "4" }?.head == last)
            }
            let found = try await Invariants(bench: bench, accepted: [1, 2, 3, 4]).check()
            #expect(found.isClean, "\(found.problems)")
            let verdicts = found.runs.map { "\($0.id) \($0.verdict?.title ?? "none"): \($0.reason ?? "")" }
            #expect(found.runs.allSatisfy { $0.verdict == .passed }, "no false time-out: \(verdicts)")
        }
    }

    private func set(_ offset: Int64, _ file: String) throws {
        // Written in place: the daemon has the file's page mapped.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: withUnsafeBytes(of: offset) { Data($0) })
        try handle.close()
    }

    private func number(in file: String) throws -> Int64 {
        let data = try #require(FileManager.default.contents(atPath: file))
        return data.reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
}
