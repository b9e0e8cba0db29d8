import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// A daemon that dies, or is told to stop, while a fixer works.
struct FixSurvivalTests {
    @Test(.timeLimit(.minutes(8)), arguments: ["fixer", "check"])
    func `after a kill the fixing continues`(_ place: String) async throws {
        try await Bench.with { bench in
            try bench.meetingPoint("started")
            let wait = "test -e \(bench.meet)/again || { echo up > \(bench.meet)/started; sleep 1000; }"
            try await Fixing.begin(bench, (place == "fixer" ? "\(wait); " : "") + "echo good > value.txt")
            if place == "check" {
                try await bench.commit(
                    ["check.sh": "grep -qx good value.txt || exit 1; test -e new.txt || exit 0; \(wait)\n"], "Wait")
            }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["value.txt": "bad\n", "new.txt": "new\n"])
                _ = try await bench.pipectl("notify", bench.repository)
                try await bench.arrival(at: "started")
                daemon.child.kill()
                _ = await daemon.end()
            }
            _ = FileManager.default.createFile(atPath: "\(bench.meet)/again", contents: nil)
            // The stored state is correct now: nothing is offered.
            #expect(try await bench.run(1).fixState == .working)
            try await bench.withDaemon { daemon in
                try await daemon.event(.fixState, run: 1) { $0.state == FixSeries.State.offered.rawValue }
                #expect(await daemon.stop() == 0)
            }
            let series = try #require(try await Fixing.report(bench, 1).fixes)
            #expect(series.state == .offered && series.attempts.count == 1, "\(series)")
            #expect(try await bench.runs().map(\.verdict) == [.passed, .passed, .failed])
            #expect(try await bench.run(place == "fixer" ? 2 : 3).attempt == 2)
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `cancelling a fixer ends the series`() async throws {
        try await Bench.with { bench in
            try bench.meetingPoint("started")
            try await Fixing.begin(bench, "echo up > \(bench.meet)/started; sleep 1000", ", attempts: 3")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["value.txt": "bad\n"])
                _ = try await bench.pipectl("notify", bench.repository)
                try await bench.arrival(at: "started")
                #expect(try await bench.pipectl("cancel", "2").code == 0)
                try await daemon.event(.fixState, run: 1) { $0.state == FixSeries.State.stopped.rawValue }
                #expect(try await bench.runs().count == 2)
                // A person can still request it, and it continues with the next number.
                try Fixing.write(bench, "echo good > value.txt")
                let again = try await bench.pipectl("fix", "1")
                #expect(again.code == 0 && again.output.contains("attempt 2 passes as run 4"), "\(again)")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `nothing is lost between the verdict and the fixer`() async throws {
        try await Bench.with { bench in
            try await Fixing.begin(bench, "echo good > value.txt")
            _ = try await bench.look()
            try await bench.change(1, ["value.txt": "bad\n"])
            _ = try await bench.look()
            #expect(try await Fixing.report(bench, 1).fixes?.state == .offered)
            // As if the daemon had died right after each of the verdicts: the repeated work gives the same result.
            let runs = try await bench.runs().count
            let sql = "UPDATE run SET isFixDue = TRUE"
            let set = try await bench.command([
                "python3", "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
                "\(bench.home)/index.sqlite", sql,
            ])
            #expect(set.code == 0, "\(set.errors)")
            _ = try await bench.look()
            #expect(try await bench.runs().count == runs)
            #expect(try await Fixing.report(bench, 1).fixes?.state == .offered)
            // Nothing of it is only in the index.
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(bench.home)/index.sqlite\(suffix)")
            }
            #expect(try await bench.pipectl("archive", "reindex").code == 0)
            #expect(try await bench.run(1).fixState == .offered)
            #expect(try await bench.run(3).fix?.inWords == "check of fix 1 of run 1")
        }
    }
}
