import Results
import Foundation
import TestBasics
import TestSupport
import Testing

/// SIGKILL ends pipectl before, and in the middle of, each call that changes the disk or starts a process, over a whole
/// small load. After each the whole state is checked.
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
        /// How often each kind of call was the moment.
        var kinds: [String: Int] = [:]
    }

    @Test("faults 1 to 5: killed at each call of a load, one after the other", .timeLimit(.minutes(60)))
    func everyCall() async throws {
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            let template = try await prepare(bench)
            let invariants = Invariants(
                bench: bench, expected: ["test \(template.change)", "release \(template.release)"], accepted: [])

            var counts = Counts(seed: Form.seed)
            try await reset(bench, template.home)
            _ = try await bench.look(killedAt: Moment(number: .max), shim)
            counts.calls = try number(in: "\(bench.root)/calls")
            #expect(counts.calls > 200, "the shim sees what pipectl does")

            var seeded = SplitMix64(seed: Form.seed)
            var points = (1...counts.calls + 20).flatMap { [($0, false), ($0, true)] }
            if !Form.isLong { points = Array(points.shuffled(using: &seeded).prefix(40)) }
            for (number, isTorn) in points {
                try await reset(bench, template.home)
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

    struct Refusals: Codable {
        var seed: UInt64
        var calls = 0
        var refused = 0
        var short = 0
        var passed = 0
        var infrastructure = 0
        var failedLooks = 0
        var kinds: [String: Int] = [:]
    }

    @Test("each call of a load is refused once by the disk, or done by half", .timeLimit(.minutes(60)))
    func everyCallRefused() async throws {
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            let template = try await prepare(bench)
            var invariants = Invariants(
                bench: bench, expected: ["test \(template.change)", "release \(template.release)"], accepted: [])
            invariants.releaseMayNotBegin = true
            var counts = Refusals(seed: Form.seed)
            try await reset(bench, template.home)
            _ = try await bench.look(hitAt: Moment(number: .max), shim)
            counts.calls = try number(in: "\(bench.root)/calls")

            var seeded = SplitMix64(seed: Form.seed)
            var points = (1...counts.calls + 20).flatMap { [($0, false), ($0, true)] }
            if !Form.isLong { points = Array(points.shuffled(using: &seeded).prefix(40)) }
            for (number, isShort) in points {
                try await reset(bench, template.home)
                let moment = Moment(number: number, isTorn: isShort, refusal: EIO)
                guard let (hit, ended) = try await bench.look(hitAt: moment, shim) else { continue }
                if isShort && !hit.hasPrefix("write ") { continue }
                let what = "call \(number) (\(hit)), \(isShort ? "by half" : "refused"): \(ended.code) \(ended.errors)"
                counts.refused += 1
                if isShort { counts.short += 1 }
                if ended.code != 0 { counts.failedLooks += 1 }
                counts.kinds[String(hit.prefix { $0 != " " }), default: 0] += 1
                #expect(ended.code < 128, "it goes on or says why not: \(what)")
                _ = try await bench.look()
                let found = try await invariants.check()
                #expect(found.isClean, "\(what): \(found.problems)")
                for run in found.runs {
                    if run.verdict == .passed { counts.passed += 1 } else { counts.infrastructure += 1 }
                    #expect(run.verdict == .passed || run.verdict == .infrastructure, "\(what): \(run)")
                }
            }
            #expect(counts.refused >= (Form.isLong ? counts.calls : 10))
            try Form.report("refusals", counts)
        }
    }

    /// A state with a baseline only, and a change and a release that an observation finds. Compiled workflows stay at
    /// their paths, which are part of their names.
    private func prepare(_ bench: Bench) async throws -> (home: String, change: String, release: String) {
        _ = try await bench.look()
        let template = "\(bench.root)/template"
        try await bench.command(["cp", "-a", bench.home, template]).succeeded()
        try await bench.command(["rm", "-rf", "\(template)/programs"]).succeeded()
        let change = try await bench.change(1, ["a.txt": "a\n"])
        let script = "mkdir dist; seq 1 2000 > dist/a.bin; \(bench.effect("release-$PIPECTL_RUN"))\n"
        return (template, change, try await bench.commit(["release.sh": script], "Release"))
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

extension Ended {
    /// Throws unless the command ended with 0.
    func succeeded() throws {
        guard code == 0 else { throw Bench.Failure(description: "it ended with \(code): \(errors)") }
    }
}
