import TestBasics
@testable import Results
@testable import Store
@testable import Archive
import Foundation
import GRDB
import Pipeline
import TestSupport
import Testing

@Suite struct IndexFileTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/index.sqlite"
    }

    @Test func `accepted runs are there after reopening`() async throws {
        do {
            let index = try Index(path: path)
            try await index.recordBaseline(
                of: "alpha", location: "/srv/alpha.git", refs: ["refs/heads/main": Sample.commit(1)])
            try await index.completed(Sample.request(head: 1))
            try await index.accept(Sample.request(head: 2))
        }
        let index = try Index(path: path)
        #expect(try await index.cursor(of: "alpha") == ["refs/heads/main": Sample.commit(1)])
        #expect(try await index.runs().map(\.state) == [.queued, .ended])
        #expect(try await index.accept(Sample.request(head: 3)).run.id == 3)
    }

    @Test func `commits reach the disk`() async throws {
        let index = try Index(path: path)
        let settings = try await index.write { db in
            [try String.fetchOne(db, sql: "PRAGMA journal_mode"), try String.fetchOne(db, sql: "PRAGMA synchronous")]
        }
        #expect(settings == ["wal", "2"], "2 is FULL")
    }

    /// Recording an observation with runs does not wait for the disk; the first of its runs flushes it.
    @Test func `observations are flushed together`() async throws {
        let index = try Index(path: path)
        try await index.recordBaseline(of: "alpha", location: "/alpha", refs: [String: String]())
        #expect(!index.hasUnflushed)
        for head in 1...2 {
            let ref = "refs/pull/\(head)/head"
            _ = try await index.recordLook(
                repository: "alpha", moved: [RefMove(ref: ref, old: nil, new: Sample.commit(head))],
                requests: [Sample.request(head: head)], changes: [])
            #expect(index.hasUnflushed)
        }
        try await index.flushLooks()
        #expect(!index.hasUnflushed)
        // A claim is made again after a power failure; the next flush covers it.
        _ = try await index.claimNext()
        #expect(index.hasUnflushed)
        // An observation that starts nothing need not be flushed.
        _ = try await index.recordLook(
            repository: "alpha", moved: [RefMove(ref: "refs/heads/x", old: nil, new: Sample.commit(3))], requests: [],
            changes: [])
        #expect(!index.hasUnflushed)
    }

    @Test func `numbers are never used again`() async throws {
        do {
            let index = try Index(path: path)
            try await index.completed(Sample.request(head: 1))
        }
        let queue = try DatabaseQueue.patient(path)
        try await queue.write { db in try db.execute(sql: "DELETE FROM run") }
        try queue.close()
        #expect(try await Index(path: path).accept(Sample.request(head: 1)).run.id == 2)
    }

    @Test(arguments: [Data("this is no database, and never was one".utf8), Data(repeating: 0x5A, count: 100_000)])
    func `a file that is not a database is named and left alone`(_ content: Data) async throws {
        try content.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(error?.code == .damagedIndex)
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("pipectl archive reindex") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    }

    @Test func `a truncated file is detected`() async throws {
        try await fill()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let size = try file.seekToEnd()
        try file.truncate(atOffset: size / 2)
        try file.close()
        let error = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(error?.code == .damagedIndex)
    }

    @Test func `an overwritten page is detected`() async throws {
        try await fill()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 4096 * 3)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 4))
        try file.close()
        let error = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(error?.code == .damagedIndex)
    }

    @Test func `a damaged index is set aside and made again`() async throws {
        let store = try ArchiveStore(home: folder.path)
        try await store.write(Sample.report(7), request: Sample.request(), tests: Sample.tests)
        let garbage = Data("garbage".utf8)
        try garbage.write(to: URL(fileURLWithPath: path))
        let aside = try Index.setAside(path: path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == garbage)
        let index = try Index(path: path)
        #expect(try await store.reindex(into: index).restored == 1)
        #expect(try await index.run(7)?.summary.verdict == .passed)
        #expect(try await index.accept(Sample.request(head: 2)).run.id == 8)
    }

    @Test func `a full disk loses no accepted run`() async throws {
        let index = try Index(path: path)
        let pages = try await index.write { db in
            let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(count + 20)")
            return count
        }
        let accepted = await withTaskGroup(of: RunID?.self, returning: Set<RunID>.self) { group in
            for number in 1...400 {
                group.addTask {
                    do {
                        return try await index.accept(Sample.request(change: "\(number)", head: number)).run.id
                    } catch {
                        #expect((error as? ArchiveError)?.code == .diskFull)
                        return nil
                    }
                }
            }
            return await group.reduce(into: Set()) { ids, id in if let id { ids.insert(id) } }
        }
        #expect(accepted.count > 0 && accepted.count < 400)
        #expect(Set(try await index.queued().map(\.id)) == accepted, "what was answered is there, and nothing else")
        try await index.write { db in try db.execute(sql: "PRAGMA max_page_count = \(pages + 10_000)") }
        #expect(try await index.accept(Sample.request(change: "later", head: 999)).isNew)
        let reopened = try Index(path: path)
        #expect(try await reopened.queued().count == accepted.count + 1)
    }

    /// `States` has one index of each form that a released pipectl wrote: a run of change 7, which passed.
    @Test func `the index of an earlier version is opened, with its runs`() async throws {
        let states = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("States")
        let files = try FileManager.default.contentsOfDirectory(at: states, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let path = "\(folder.path)/\(file.lastPathComponent).sqlite"
            let text = try String(contentsOf: file, encoding: .utf8)
            // The dump's order is not that of references, and it has a transaction of its own.
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try await queue.writeWithoutTransaction { db in try db.execute(sql: text) }
            let before = try await queue.read { db in try Index.migrator.appliedIdentifiers(db).count }
            try queue.close()
            #expect(before < Index.migrator.migrations.count)

            let index = try Index(path: path)
            let runs = try await index.runs()
            #expect(runs.map(\.id) == [1] && runs.first?.verdict == .passed)
            #expect(try await index.cursor(of: "p").count == 2)
            #expect(try await index.accept(Sample.request(head: 3)).run.id == 2)
            let problems = try await index.write { db in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count }
            #expect(problems == 0)
        }
    }

    /// Whoever upgraded in steps, from any earlier version, has the same tables as whoever begins now.
    @Test func `every earlier schema becomes the newest one`() async throws {
        func schema(_ index: Index) async throws -> [String] {
            try await index.write { db in
                try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            }
        }
        let newest = try await schema(Index(path: path))
        for (number, last) in Index.migrator.migrations.enumerated() {
            let path = "\(folder.path)/\(number).sqlite"
            let queue = try DatabaseQueue(path: path)
            try Index.migrator.migrate(queue, upTo: last)
            try queue.close()
            #expect(try await schema(Index(path: path)) == newest, "from \(last)")
        }
    }

    @Test func `a newer schema is refused`() async throws {
        try await fill()
        let queue = try DatabaseQueue.patient(path)
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 from the future')")
        }
        try queue.close()
        let error = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(error?.code == .newerIndex)
        #expect(error?.description.contains("99 from the future") == true)
        #expect(error?.description.contains(path) == true)
    }

    @Test func `a missing folder is named`() {
        let missing = folder.path + "/nowhere/index.sqlite"
        let error = #expect(throws: ArchiveError.self) { try Index(path: missing) }
        #expect(error?.code == .unusableIndex)
        #expect(error?.description.contains(missing) == true)
    }

    @Test func `a command reads while the daemon writes`() async throws {
        let daemon = try Index(path: path)
        try await daemon.accept(Sample.request(head: 1))
        let command = try Index(path: path, check: .none)
        #expect(try await command.runs().count == 1)
        try await daemon.accept(Sample.request(change: "8", head: 2))
        #expect(try await command.runs().count == 2)
        try await command.accept(Sample.request(change: "9", head: 3))
        #expect(try await daemon.runs().count == 3)
    }

    /// An index of some hundred pages, closed and with nothing in its log.
    private func fill() async throws {
        do {
            let index = try Index(path: path)
            let tests = (0..<200).map {
                TestResult(suite: "Suite \($0)", name: "a test with number \($0)", status: .passed)
            }
            for head in 1...40 {
                try await index.completed(Sample.request(change: "\(head)", head: head), tests: tests)
            }
        }
        let queue = try DatabaseQueue.patient(path)
        try await queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        try queue.close()
    }
}
