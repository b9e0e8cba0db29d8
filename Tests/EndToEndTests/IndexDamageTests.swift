import DaemonLog
import TestBasics
import Results
import Store
import Foundation
import TestSupport
import Testing

/// A damaged, truncated or missing index is reported, left alone, and repaired by the one command that is named.
struct IndexDamageTests {
    private func index(_ bench: Bench) -> String { "\(bench.home)/index.sqlite" }

    /// A bench that has tested change 1, with everything in the database file and nothing in the write-ahead log.
    private func tested(_ bench: Bench, keepCopy: Bool) async throws {
        try await bench.withDaemon { daemon in
            try await daemon.event(.baseline)
            try await bench.change(1, ["a.txt": "a\n"])
            try await daemon.event(.runQueued, run: 1)
            _ = try await bench.pipectl("logs", "1", "--follow")
            #expect(await daemon.stop() == 0)
        }
        let copy = Store.Index.backupPath(of: index(bench))
        #expect(FileManager.default.fileExists(atPath: copy), "the daemon keeps a copy")
        if !keepCopy { try FileManager.default.removeItem(atPath: copy) }
        // Closing the last connection writes the log into the database.
        _ = try Store.Index(path: index(bench))
    }

    private func watch(_ bench: Bench) async throws -> Ended {
        try await bench.pipectl("watch", "--minimum-free", "0", "--once", bench.repository)
    }

    enum Damage: String, CaseIterable { case flipped, cut, empty, gone }

    private func damage(_ how: Damage, _ bench: Bench) throws {
        let path = index(bench)
        switch how {
        case .gone:
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        case .empty, .cut, .flipped:
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let size = try file.seekToEnd()
            if how == .empty { return try file.truncate(atOffset: 0) }
            if how == .cut { return try file.truncate(atOffset: size / 2 + 100) }
            // One bit of the first byte of every tenth page, which is the page's type.
            for page in stride(from: 2, to: size / 4096, by: 10) {
                try file.seek(toOffset: page * 4096)
                let kind = try #require(try file.read(upToCount: 1)?.first)
                try file.seek(toOffset: page * 4096)
                try file.write(contentsOf: Data([kind ^ 0x40]))
            }
        }
    }

    @Test(.timeLimit(.minutes(6)), arguments: Damage.allCases)
    func `a damaged index is refused and rebuilt from the archive`(_ how: Damage) async throws {
        try await Bench.with { bench in
            try await tested(bench, keepCopy: false)
            try damage(how, bench)
            let before = FileManager.default.contents(atPath: index(bench))
            let refused = try await watch(bench)
            #expect(refused.code == 3)
            #expect(
                refused.errors.contains("index.sqlite\" is \(how == .gone || how == .empty ? "missing" : "damaged")"))
            #expect(refused.errors.contains("`pipectl archive reindex`"), "\(refused.errors)")
            #expect(FileManager.default.contents(atPath: index(bench)) == before, "it is left as it is")

            let mended = try await bench.pipectl("archive", "reindex")
            #expect(mended.code == 0, "\(mended.errors)")
            if how != .gone { #expect(mended.errors.contains("the old index was kept as"), "\(mended.errors)") }
            #expect(try await bench.runs().map(\.verdict) == [.passed])
            // The first observation is a baseline: nothing old is started, and new pushes are.
            #expect(try await watch(bench).errors.contains("nothing to run"))
            try await bench.change(2, ["b.txt": "b\n"])
            #expect(try await watch(bench).code == 0)
            #expect(try await bench.runs().map(\.id) == [2, 1])
        }
    }

    @Test(.timeLimit(.minutes(6)), arguments: [Damage.flipped, .gone])
    func `archive restore brings the daily copy back`(_ how: Damage) async throws {
        try await Bench.with { bench in
            try await tested(bench, keepCopy: true)
            try damage(how, bench)
            let refused = try await watch(bench)
            #expect(refused.code == 3)
            #expect(refused.errors.contains("`pipectl archive restore`"), "\(refused.errors)")
            let restored = try await bench.pipectl("archive", "restore")
            #expect(restored.code == 0, "\(restored.errors)")
            #expect(restored.output.contains("added 1 run from archive.git"), "\(restored.output)")
            if how == .flipped { #expect(restored.errors.contains("the old index was kept as"), "\(restored.errors)") }
            #expect(try await bench.runs().map(\.verdict) == [.passed])
            #expect(try await watch(bench).errors.contains("nothing to run"), "the change is known")
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a lost write-ahead log loses only its tail, and nothing is tested twice`() async throws {
        try await Bench.with { bench in
            try await tested(bench, keepCopy: true)
            try await bench.withDaemon { daemon in
                try await bench.change(2, ["b.txt": "b\n"])
                try await daemon.event(.runQueued, run: 2)
                _ = try await bench.pipectl("logs", "2", "--follow")
                try await bench.archived(2)
                daemon.child.kill()
                _ = await daemon.child.end
            }
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index(bench) + suffix) }
            // A push that no daemon has seen.
            try await bench.change(3, ["c.txt": "c\n"])
            let look = try await watch(bench)
            #expect(look.code == 0, "\(look.errors)")
            #expect(look.errors.contains("added 1 runs to the index that only archive.git had"), "\(look.errors)")
            let runs = try await bench.runs()
            #expect(runs.map(\.verdict) == [.passed, .passed, .passed])
            #expect(runs.map(\.change) == ["3", "2", "1"], "each was tested once")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `doctor shows the age of the copy`() async throws {
        try await Bench.with { bench in
            #expect(try await bench.pipectl("doctor").output.contains("copy of the index: none yet"))
            try await tested(bench, keepCopy: true)
            let doctor = try await bench.pipectl("doctor").output
            #expect(doctor.contains(" old, \(bench.home)/index.backup.sqlite"), "\(doctor)")
        }
    }
}
