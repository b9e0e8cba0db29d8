import Foundation
import TestBasics
import TestSupport
import Testing

/// The power fails while a load is processed: fault 40.
@Suite(.enabled(if: Machine.isLinux, "the disk's calls are recorded by a preloaded library"))
struct PowerCutTests {
    struct Counts: Codable {
        var seed: UInt64
        var calls = 0
        var cuts = 0
        /// Cuts after at least one run was reported.
        var cutsWithTold = 0
        var refusedToStart = 0
        var toldAndLost = 0
        var doubled = 0
        var unfinished = 0
        var damaged = 0
    }

    @Test("fault 40: writes that were not flushed are missing in any combination", .timeLimit(.minutes(60)))
    func cut() async throws {
        var random = SplitMix64(seed: Form.seed)
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let before = try DiskModel(bench.home)
            var heads: [String] = []
            for number in 1...2 { heads.append(try await bench.change(number, ["n.txt": "\(number)\n"])) }
            let release = "echo begins; mkdir dist; seq 1 3000 > dist/a.bin; \(bench.effect("release-$PIPECTL_RUN"))\n"
            try await bench.commit(["release.sh": release], "Release")
            let file = "\(bench.root)/journal"
            let recorded = bench.with(shim.variables(["FAULT_ROOT": bench.home, "FAULT_JOURNAL": file]))
            #expect(try await recorded.look().code == 0)
            let journal = try DiskJournal(contentsOf: file)
            #expect(bench.effects == ["release-3"])
            #expect(journal.entries.contains { $0.path.hasPrefix("/live/3-1/logs/") }, "the release's log is seen")
            try await replayIsWhole(before, journal, bench)

            var counts = Counts(seed: Form.seed, calls: journal.entries.count)
            for _ in 1...(Form.isLong ? 2_000 : 30) {
                let end = Int.random(in: 0...journal.entries.count, using: &random)
                try await cut(bench, before, journal.entries.prefix(end), &random, &counts)
            }
            #expect(counts.cutsWithTold > 0)
            try Form.report("power", counts)
        }
    }

    /// The record is complete: without losses, the replay equals the folder.
    private func replayIsWhole(_ before: DiskModel, _ journal: DiskJournal, _ bench: Bench) async throws {
        var model = before
        for entry in journal.entries { model.apply(entry) }
        model.apply(DiskJournal.Entry(path: "", change: .fsync))
        let copy = "\(bench.root)/replay"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        var all = Always()
        try model.write(to: copy, &all)
        let compared = try await bench.command([
            "diff", "-r", "--no-dereference", "-x", "programs", "-x", "*-shm", "-x", "daemon.sock", copy, bench.home,
        ])
        #expect(compared.code == 0, "\(compared.output.prefix(4000))")
    }

    private func cut(
        _ bench: Bench, _ before: DiskModel, _ entries: ArraySlice<DiskJournal.Entry>,
        _ random: inout SplitMix64, _ counts: inout Counts
    ) async throws {
        var model = before
        var said = ""
        var hasReleased = false
        for entry in entries {
            model.apply(entry)
            // The step has printed something, so from here on it may have had effects.
            if case .write = entry.change, entry.path.hasPrefix("/live/3-1/logs/") { hasReleased = true }
            if case .say(let text) = entry.change { said += text }
        }
        // Compiled workflows stay at their paths, which are part of their names.
        try await bench.command(
            ["sh", "-c", "cd \"$0\" && find . -mindepth 1 -maxdepth 1 ! -name programs -exec rm -rf {} +", bench.home]
        ).succeeded()
        try Data((hasReleased ? "release-3\n" : "").utf8).write(to: URL(fileURLWithPath: "\(bench.meet)/effects"))
        try model.write(to: bench.home, &random)
        let told = Set(said.matches(of: /run ([0-9]+) (?:test|release),/).compactMap { Int64($0.output.1) })
        counts.cuts += 1
        if !told.isEmpty { counts.cutsWithTold += 1 }
        let place = "cut after call \(entries.count) (seed \(Form.seed)), told \(told.sorted())"
        let listed = try await bench.pipectl("runs", "--json")
        guard listed.code == 0 else {
            counts.refusedToStart += 1
            Issue.record("\(place): \(listed.errors)")
            return
        }
        let after = try await bench.look()
        #expect([0, 3].contains(after.code), "\(place): \(after.output)\(after.errors)")
        let found = try await Invariants(bench: bench, accepted: told).check()
        #expect(found.isClean, "\(place): \(found.problems)")
        counts.toldAndLost += found.lost.count
        counts.doubled += found.doubled.count
        counts.unfinished += found.unfinished.count
        counts.damaged += found.damage.count
    }
}
