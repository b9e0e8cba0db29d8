import Archive
import Engine
import Foundation
import TestSupport
import Testing

/// pipectl is ended by SIGKILL before, and in the middle of, each call that changes a disk or starts a process, over a
/// whole small load; after each the state is checked as a whole.
@Suite(.enabled(if: Machine.isLinux, "the calls are counted by a preloaded library"))
struct SweepTests {
    struct Counts: Codable {
        var seed: UInt64
        var calls = 0
        var kills = 0
        var torn = 0
        var released = 0
        var needsAPerson = 0
        var lost = 0
        var doubled = 0
        var unfinished = 0
        var processesLeft = 0
        var damaged = 0
        var leftovers = 0
        /// How often each kind of call was hit.
        var kinds: [String: Int] = [:]
    }

    @Test("faults 1 to 5: killed at each call of a load, one after the other", .timeLimit(.minutes(60)))
    func everyCall() async throws {
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            // The state before the load; compiled workflows stay where they are, their place is part of their name.
            let template = "\(bench.root)/template"
            try await bench.command(["cp", "-a", bench.home, template]).succeeded()
            try await bench.command(["rm", "-rf", "\(template)/programs"]).succeeded()
            let head = try await bench.change(1, ["a.txt": "a\n"])
            let release = "mkdir dist; seq 1 2000 > dist/a.bin; \(bench.effect("release-$PIPECTL_RUN"))\n"
            let main = try await bench.commit(["release.sh": release], "Release")
            let invariants = Invariants(
                bench: bench, expected: ["test \(head)", "release \(main)"], accepted: [])

            var counts = Counts(seed: Form.seed)
            try await reset(bench, template)
            _ = try await bench.look(killedAt: Moment(number: .max), shim)
            counts.calls = try number(in: "\(bench.root)/calls")
            #expect(counts.calls > 200, "the shim sees what pipectl does")

            var seeded = Seeded(Form.seed)
            var points = (1...counts.calls + 20).flatMap { [($0, false), ($0, true)] }
            if !Form.isLong { points = Array(points.shuffled(using: &seeded).prefix(40)) }
            for (number, isTorn) in points {
                try await reset(bench, template)
                guard let hit = try await bench.look(killedAt: Moment(number: number, isTorn: isTorn), shim) else {
                    continue
                }
                if isTorn && !hit.hasPrefix("write ") { continue }
                counts.kills += 1
                if isTorn { counts.torn += 1 }
                counts.kinds[String(hit.prefix { $0 != " " }), default: 0] += 1
                _ = try await bench.look()
                let found = try await invariants.check()
                #expect(found.isClean, "killed at call \(number) (\(hit)), torn: \(isTorn): \(found.problems)")
                #expect(found.runs.first { $0.workflow == "test" }?.verdict == .passed, "call \(number) (\(hit))")
                for run in found.runs where run.workflow == "release" {
                    if run.verdict == .passed { counts.released += 1 } else { counts.needsAPerson += 1 }
                }
                counts.lost += found.lost.count
                counts.doubled += found.doubled.count
                counts.unfinished += found.unfinished.count
                counts.damaged += found.damage.count
                counts.leftovers += found.leftovers.count
                counts.processesLeft += found.processes.count
            }
            #expect(counts.kills >= (Form.isLong ? counts.calls : 20))
            try Form.report("sweep", counts)
        }
    }

    private func reset(_ bench: Bench, _ template: String) async throws {
        let script = """
            cd "$0" && find . -mindepth 1 -maxdepth 1 ! -name programs -exec rm -rf {} + && cp -a "$1"/. . \
            && : > "$2/meet/effects" && rm -f "$2/hit" "$2/calls"
            """
        try await bench.command(["sh", "-c", script, bench.home, template, bench.root]).succeeded()
    }

    private func number(in file: String) throws -> Int {
        let data = try #require(FileManager.default.contents(atPath: file))
        return Int(data.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
}

extension Bench.Ended {
    /// Throws unless the command ended with 0.
    func succeeded() throws {
        guard code == 0 else { throw Bench.Failure(description: "it ended with \(code): \(errors)") }
    }
}
