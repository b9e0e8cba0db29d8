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

/// A step that prints without end and without a line feed: fault 14.
@Suite(.enabled(if: Machine.isLinux, "memory is read from /proc"))
struct OutputFloodTests {
    struct Counts: Codable {
        var bytes: Int
        var memoryGrowth: Int
        var seconds: Double
        var secondsOfCat: Double
    }

    @Test("fault 14: gigabytes without a newline", .timeLimit(.minutes(30)))
    func flood() async throws {
        let bytes = Form.isLong ? 10 << 30 : 512 << 20
        let flood = "head -c \(bytes) /dev/zero | tr '\\0' x"
        try await Bench.faults(["check.sh": "\(flood)\n"]) { bench in
            let clock = ContinuousClock()
            var start = clock.now
            try await bench.command(
                ["sh", "-c", "\(flood) | cat > \"$0\"; rm \"$0\"", "\(bench.root)/flood"], within: .seconds(1_200)
            )
            .succeeded()
            let cat = clock.now - start
            try await bench.withDaemon("--log-limit", "4") { daemon in
                try await daemon.event(.baseline)
                let before = try #require(daemon.status("VmHWM"))
                start = clock.now
                try await bench.change(1, ["a.txt": "a\n"])
                try await daemon.event(.runQueued, run: 1)
                _ = try await bench.command(
                    [Bench.pipectl, "logs", "1", "--follow", "--step", "none"], within: .seconds(1_500))
                #expect(try await becomesTrue(within: .seconds(1_500)) { try await bench.run(1).state == .ended })
                let spent = clock.now - start
                let growth = try #require(daemon.status("VmHWM")) - before
                #expect(growth < 64 << 10, "the daemon's peak grew by \(growth) KiB")
                // On a loaded machine the scheduler decides; the long form has the machine for itself.
                if Form.isLong { #expect(spent < cat * 2, "\(spent), and \(cat) for cat > file") }
                #expect(await daemon.stop() == 0)
                try Form.report(
                    "flood",
                    Counts(
                        bytes: bytes, memoryGrowth: growth << 10, seconds: spent / .seconds(1),
                        secondsOfCat: cat / .seconds(1)))
            }
            let report = try JSONDecoder().decode(LogFacts.self, from: Data(try await bench.report(1).utf8))
            let log = try #require(report.steps.first?.attempts.first?.log)
            #expect(log.bytes == bytes)
            #expect(log.droppedBytes == bytes - 2 * (4 << 20), "the drop count is exact")
            let kept = try await bench.command(["sh", "-c", "\"$0\" logs 1 | wc -c", Bench.pipectl]).output
            let size = try #require(Int(kept.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect((2 * (4 << 20)...2 * (4 << 20) + 200).contains(size), "what is kept, and a line that says so")
        }
    }

    private struct LogFacts: Decodable {
        struct Log: Decodable { var bytes: Int, droppedBytes: Int }
        struct Attempt: Decodable { var log: Log? }
        struct Step: Decodable { var attempts: [Attempt] }
        var steps: [Step]
    }
}
