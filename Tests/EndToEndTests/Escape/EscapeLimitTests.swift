import TestBasics
import Results

#if os(Linux)
    import Foundation
    import Glibc
    import TestSupport
    import Testing

    /// Several changes at once that would take the machine down, and one beside them that must be tested.
    struct EscapeLimitTests {
        @Test(.outsideOfSteps, .timeLimit(.minutes(6)))
        func `greedy changes reach their limits and other runs continue`() async throws {
            let step = "Step(\"check\", run: \"exec sh check.sh\")\(GreedyAttempt.limits)"
            try await EscapeRoom.with(steps: step) { room in
                let bench = room.bench
                _ = try await bench.look()
                for (index, attempt) in GreedyAttempt.all.enumerated() {
                    try await bench.change(index + 1, ["check.sh": room.filled(attempt.script) + "\n"])
                }
                let innocent = GreedyAttempt.all.count + 1
                try await bench.change(
                    innocent, ["check.sh": "for i in 1 2 3 4 5 6 7 8; do sleep 0.2; cat README.md; done\n"])
                let look = try await bench.look("--slots", "20")
                #expect(look.code == 1, "\(look.output)\(look.errors)")

                let runs = try await bench.runs()
                #expect(runs.count == innocent)
                for run in runs {
                    let number = try #require(run.change.flatMap { Int($0) })
                    let log = try await room.log("check", of: Int(run.id))
                    guard number < innocent else {
                        #expect(run.verdict == .passed, "\(run.reason ?? "")\n\(log)")
                        #expect(log == String(repeating: "base\n", count: 8))
                        continue
                    }
                    let attempt = GreedyAttempt.all[number - 1]
                    #expect(run.verdict != .passed, "\(attempt.name)")
                    #expect(log.contains(attempt.prints), "\(attempt.name):\n\(log.suffix(2_000))")
                    let report = try await bench.pipectl("report", "\(run.id)").output
                    #expect(attempt.says.contains { report.contains($0) }, "\(attempt.name):\n\(report)")
                    if attempt.name == "fork-bomb" {
                        let count = log.split(separator: " ").dropFirst().first.flatMap { Int($0.dropLast()) }
                        #expect((1...64).contains(try #require(count)), "\(log)")
                    }
                }
                #expect(room.victimSleeps)
                // The survivor holds a lock as long as it lives.
                let lock = try await bench.command(["flock", "-n", "\(bench.meet)/survivor", "true"])
                #expect(lock.code == 0, "a process has outlived its run")
                for folder in ["workspaces", "live"] {
                    let left = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)")
                    #expect(left.isEmpty, "\(folder): \(left)\n\(look.errors)")
                }
                try await expectSurvivalOutside(room)
            }
        }

        /// The same survivor does stay alive without a sandbox.
        private func expectSurvivalOutside(_ room: EscapeRoom) async throws {
            let path = "\(room.outside)/survivor"
            _ = try await room.bench.command([room.words["PROBE"] ?? "", "survive", path])
            #expect(try await room.bench.command(["flock", "-n", path, "true"]).code == 1)
            let id = try #require(Int32(EscapeRoom.text(path).trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(kill(id, SIGKILL) == 0)
        }
    }
#endif
