import DaemonLog
import TestBasics
import Results
import Foundation
import GRDB
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An index that was damaged, lost its tail, or is of another version: faults 22 to 24.
struct DamageTests {
    @Test("fault 22: a byte of a table's page is flipped", .timeLimit(.minutes(6)), arguments: ["run", "refCursor"])
    func flippedByte(table: String) async throws {
        try await Bench.faults { bench in
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look().code == 0)
            let file = "\(bench.home)/index.sqlite"
            let queue = try DatabaseQueue(path: file)
            let (page, size) = try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                let page = try Int.fetchOne(
                    db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table])
                return (try #require(page), try #require(try Int.fetchOne(db, sql: "PRAGMA page_size")))
            }
            try queue.close()
            var bytes = try #require(FileManager.default.contents(atPath: file))
            bytes[(page - 1) * size] ^= 0x55
            try bytes.write(to: URL(fileURLWithPath: file))

            let refused = try await bench.look()
            #expect(refused.code != 0)
            #expect(refused.errors.contains("damaged"), "\(refused.errors)")
            #expect(refused.errors.contains("pipectl archive reindex"), "it names the remedy: \(refused.errors)")
            #expect(FileManager.default.contents(atPath: file) == bytes, "the damaged file is left as it is")

            let mended = try await bench.pipectl("archive", "reindex")
            #expect(mended.code == 0, "\(mended.errors)")
            let kept = try FileManager.default.contentsOfDirectory(atPath: bench.home).filter {
                $0.hasPrefix("index.sqlite.")
            }
            #expect(kept.contains { FileManager.default.contents(atPath: "\(bench.home)/\($0)") == bytes }, "\(kept)")
            #expect(try await bench.runs().map(\.verdict) == [.passed], "what the archive has is known again")
            _ = try await bench.look()
            try await bench.change(2, ["b.txt": "b\n"])
            _ = try await bench.look()
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test("fault 23: the write-ahead log is deleted while nothing runs", .timeLimit(.minutes(6)))
    func lostTail() async throws {
        try await Bench.faults { bench in
            _ = try await bench.look()
            let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
            try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try queue.close()
            var heads: [String] = []
            try await bench.withDaemon { daemon in
                try await daemon.event(.watching)
                for number in 1...3 {
                    heads.append(try await bench.change(number, ["n.txt": "\(number)\n"]))
                    try await daemon.event(.runQueued, run: RunID(number))
                    try await bench.follow(number)
                }
                let isArchived = try await becomesTrue(within: .seconds(120)) {
                    try await bench.git(["for-each-ref", "refs/runs/3"], in: "\(bench.home)/archive.git") != ""
                }
                #expect(isArchived)
                daemon.child.kill()
                _ = await daemon.child.end
            }
            let log = "\(bench.home)/index.sqlite-wal"
            #expect((FileManager.default.contents(atPath: log)?.count ?? 0) > 4_096, "the tail is in the log")
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(bench.home)/index.sqlite\(suffix)")
            }
            let after = try await bench.look()
            #expect(after.code == 0, "\(after.errors)")
            // Runs of the lost tail are still in the archive and are taken from there, so nothing is tested twice.
            #expect(after.errors.contains("nothing to run"), "\(after.errors)")
            let verified = try await bench.pipectl("archive", "verify")
            #expect(verified.code == 0, "\(verified.output)")
            heads.append(try await bench.change(4, ["n.txt": "4\n"]))
            #expect(try await bench.look().code == 0)
            let expected = Set(heads.map { "test \($0)" })
            let found = try await Invariants(bench: bench, expected: expected, accepted: [1, 2, 3, 4]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed, .passed, .passed, .passed])
        }
    }

    @Test("fault 24: an index of a newer version is refused", .timeLimit(.minutes(6)))
    func newer() async throws {
        try await Bench.faults { bench in
            _ = try await bench.look()
            let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
            try await queue.write {
                try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('999 from the future')")
            }
            try queue.close()
            let refused = try await bench.look()
            #expect(refused.code != 0)
            #expect(refused.errors.contains("newer pipectl"), "\(refused.errors)")
            #expect(refused.errors.contains("999 from the future"))
        }
    }

    @Test(
        "fault 24: an index of an older version is migrated as a whole or not at all",
        .enabled(if: Machine.isLinux, "the moment is chosen by a preloaded library"), .timeLimit(.minutes(10)))
    func older() async throws {
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let tables = try await schema(bench)
            let head = try await bench.change(1, ["a.txt": "a\n"])
            var kills = 0
            for number in stride(from: 1, to: 400, by: Form.isLong ? 1 : 12) {
                // The oldest version: a file of SQLite without any table.
                try await bench.command([
                    "sh", "-c", "rm -rf \"$0\"/index.sqlite* && : > \"$0\"/index.sqlite", bench.home,
                ])
                .succeeded()
                let moment = Moment(match: "\(bench.home)/index.sqlite", number: number)
                guard try await bench.look(killedAt: moment, shim) != nil else { break }
                kills += 1
                let after = try await bench.look()
                #expect(after.code == 0, "killed at call \(number): \(after.errors)")
                #expect(try await schema(bench) == tables, "killed at call \(number)")
            }
            #expect(kills > 5)
            try await bench.git(["update-ref", "-d", "refs/pull/1/head"])
            _ = try await bench.look()
            try await bench.git(["update-ref", "refs/pull/1/head", head])
            #expect(try await bench.look().code == 0)
            #expect(try await bench.runs().map(\.verdict) == [.passed])
        }
    }

    private func schema(_ bench: Bench) async throws -> [String] {
        let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
        defer { try? queue.close() }
        return try await queue.read { db in
            try String.fetchAll(db, sql: "SELECT coalesce(sql, name) FROM sqlite_master ORDER BY name")
        }
    }
}
