import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Sparse files with the largest possible size, which cost a step nothing.
@Suite(.enabled(if: Machine.fastDisk == "/dev/shm", "other disks have no files of that size"))
struct SparseFileTests {
    @Test(.timeLimit(.minutes(6)))
    func sizesThatOverflowSumsAreFindings() async throws {
        let steps = """
            Step("pack", run: "sh pack.sh").artifacts("out/*")
            Step("test", run: "truncate -s 9223372036854775807 results.xml").testResults(.junit("results.xml"))
            Step("say", run: "echo fine")
            """
        let pack = "mkdir out; echo a > out/a; for name in b c; do truncate -s 9223372036854775807 out/$name; done\n"
        try await Bench.with(Workflows.test(steps, files: ["pack.sh": "true\n"]), on: Machine.fastDisk) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["pack.sh": pack])
                try await daemon.event(.runQueued, run: 1)
                try await bench.follow(1)
                #expect(try await bench.run(1).verdict == .failed)
                let report = try await bench.pipectl("report", "1").output
                for words in [
                    "with out/b the step's artifacts exceed 8,589,934,592 bytes; compress or remove some",
                    "results.xml can't be collected: it is larger than 2,147,483,648 bytes, the limit for one file",
                    "out/a  2 bytes",
                ] {
                    #expect(report.contains(words), "\(report)")
                }
                // The daemon goes on.
                try await bench.change(2, ["pack.sh": "mkdir out; echo b > out/b\n"])
                try await daemon.event(.runQueued, run: 2)
                try await bench.follow(2)
                #expect(try await bench.run(2).verdict == .passed)
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
