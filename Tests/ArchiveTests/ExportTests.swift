import TestBasics
import Foundation
import GRDB
import Git
import Results
import TestSupport
import Testing

@testable import Archive
@testable import Store

/// How a run ends in the index, and comes into `archive.git` later.
@Suite(.timeLimit(.minutes(2))) struct ExportTests {
    private let room: ArchiveRoom

    init() throws { room = try ArchiveRoom() }

    private var store: ArchiveStore { room.store }
    private var index: Index { room.index }

    // MARK: Readers

    @Test func `a run can be read before and after its export`() async throws {
        let id = try await room.ended(artifacts: [ArchiveRoom.artifact])
        #expect(try await store.ids().isEmpty)
        #expect(try await index.run(id)?.summary.isArchived == true)
        try await expectWhole(id)
        #expect(try await store.export(from: index).runs == [id])
        #expect(try await store.ids() == [id])
        #expect(try await index.queuedForArchive().isEmpty)
        try await expectWhole(id)
        #expect(try await store.verify(index).isEmpty)
    }

    @Test func `a command reads what the daemon has not exported`() async throws {
        let path = room.folder.path + "/home/index.sqlite"
        #expect(try Index.reader(path: path) == nil, "there is no index, and none is made")
        let index = try Index(path: path)
        let daemon = store.reading(index)
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        try await daemon.record(
            Sample.report(id), request: Sample.request(), tests: Sample.tests, files: room.files(), in: index)
        let command = try ArchiveStore(home: store.home, queue: Index.reader(path: path))
        #expect(try await command.report(id) == Sample.report(id))
        #expect(try await command.log(id, "001-1.log") == Array("one\ntwo\n".utf8))
        try await daemon.export(from: index)
        #expect(try await command.report(id) == Sample.report(id))
        #expect(try await command.log(id, "001-1.log") == Array("one\ntwo\n".utf8))
    }

    @Test func `a file that a waiting run lacks is missing, and an unknown run is unknown`() async throws {
        let id = try await room.ended()
        let missing = await #expect(throws: ArchiveError.self) { try await store.log(id, "9.log") }
        #expect(missing?.code == .noSuchFile)
        let unknown = await #expect(throws: ArchiveError.self) { try await store.report(id + 1) }
        #expect(unknown?.code == .unknownRun)
    }

    // MARK: Crashes

    @Test func `an export that was interrupted before it left the queue is repeated without a trace`() async throws {
        let id = try await room.ended()
        let queued = try #require(try await index.queuedArchiveFiles(of: id))
        try await store.export(from: index)
        let commit = try await commit(of: id)
        // The crash came before the transaction that removes the run from the queue.
        try await index.write { db in try Index.queue(queued.files, of: id, db) }
        let again = try await store.export(from: index)
        #expect(again.problems.isEmpty)
        #expect(again.runs == [id])
        #expect(try await self.commit(of: id) == commit)
        #expect(try await index.queuedForArchive().isEmpty)
    }

    @Test func `an export that stopped among its objects is completed by the next one`() async throws {
        let id = try await room.ended()
        let queued = try #require(try await index.queuedArchiveFiles(of: id))
        try await withRepository(at: store.repositoryPath) { repository in
            for file in queued.files.prefix(2) { _ = try repository.createBlob(file.content ?? []) }
        }
        #expect(try await store.export(from: index).runs == [id])
        try await expectWhole(id)
        #expect(try await store.verify(index).isEmpty)
    }

    @Test func `two exports at once make each run once`() async throws {
        var ids: [RunID] = []
        for head in 1...20 { ids.append(try await room.ended(Sample.request(head: head))) }
        let other = try ArchiveStore(home: store.home, queue: index)
        // One through the same value, and one that does not wait for it.
        async let first = store.export(from: index)
        async let second = store.export(from: index)
        async let third = other.export(from: index)
        let outcomes = try await [first, second, third]
        #expect(outcomes.allSatisfy { $0.problems.isEmpty })
        #expect(Set(outcomes.flatMap(\.runs)) == Set(ids))
        #expect(try await store.ids() == ids)
        #expect(try await index.queuedForArchive().isEmpty)
        #expect(try await store.verify(index).isEmpty)
    }

    @Test func `what a crash left of a run that was being recorded goes with the next start`() async throws {
        let waiting = try await ended(log: large)
        for run in ["77", "no run"] { try room.folder.write("home/archive-queue/\(run)/logs/1.log", large) }
        _ = try await store.settle(index)
        let left = try FileManager.default.contentsOfDirectory(atPath: store.home + "/archive-queue")
        #expect(left == ["\(waiting)"])
    }

    // MARK: Large files

    @Test func `large logs wait beside the index and leave with the export`() async throws {
        let id = try await ended(log: large)
        let path = "\(store.home)/archive-queue/\(id)/logs/001-1.log"
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == large)
        try FileManager.default.removeItem(atPath: room.folder.path + "/run")
        #expect(try await store.log(id, "001-1.log") == large, "the run's own folder is gone by now")
        try await store.export(from: index)
        #expect(!FileManager.default.fileExists(atPath: "\(store.home)/archive-queue/\(id)"))
        #expect(try await store.log(id, "001-1.log") == large)
    }

    @Test func `many small logs wait beside the index, too`() async throws {
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        for number in 1...40 {
            try room.folder.write("run/logs/\(number).log", [UInt8](repeating: 7, count: 200 << 10))
        }
        let files = RunFiles(logs: room.folder.path + "/run/logs")
        try await store.record(Sample.report(id), request: Sample.request(), files: files, in: index)
        let queued = try #require(try await index.queuedArchiveFiles(of: id))
        let kept = queued.files.compactMap(\.content).reduce(0) { $0 + $1.count }
        #expect(kept <= RunContents.mostOfRun + 10_000)
        #expect(try await store.logs(id).count == 40)
        try await store.export(from: index)
        for number in 1...40 { #expect(try await store.log(id, "\(number).log").count == 200 << 10) }
    }

    @Test func `a large log that is gone keeps its run in the index and stops no other`() async throws {
        let lost = try await ended(log: large)
        let other = try await room.ended(Sample.request(head: 2))
        try FileManager.default.removeItem(atPath: "\(store.home)/archive-queue/\(lost)/logs/001-1.log")
        let outcome = try await store.export(from: index)
        #expect(outcome.runs == [other])
        #expect(outcome.problems.map(\.run) == [lost])
        #expect(try await index.queuedForArchive() == [lost])
        #expect(try await store.report(lost).id == lost)
    }

    @Test func `a repeated record finds the files that the first try kept`() async throws {
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        let files = try files(log: large)
        for _ in 1...2 {
            try await store.record(Sample.report(id), request: Sample.request(), files: files, in: index)
        }
        try await store.export(from: index)
        #expect(try await store.log(id, "001-1.log") == large)
    }

    // MARK: Stores that fail

    /// SQLite refuses each statement of the transaction once. Then the run has no verdict and nothing of it is queued.
    @Test func `a transaction that fails at any statement leaves the run as it was`() async throws {
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        let report = Sample.report(id, artifacts: [ArchiveRoom.artifact])
        var refused = 0
        for table in ["run", "step", "test", "testCase", "testFile", "artifact", "archiveQueue"] {
            let event = table == "run" ? "UPDATE" : "INSERT"
            try await index.write { db in
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER refusal BEFORE \(event) ON main.\(table)
                        BEGIN SELECT RAISE(ABORT, 'refused'); END
                        """)
            }
            let error = await #expect(throws: ArchiveError.self, "\(table)") {
                try await store.record(
                    report, request: Sample.request(), tests: Sample.tests, files: room.files(), in: index)
            }
            if error != nil { refused += 1 }
            try await index.write { db in try db.execute(sql: "DROP TRIGGER refusal") }
            #expect(try await index.run(id)?.summary.state == .running)
            #expect(try await index.queuedForArchive().isEmpty)
        }
        #expect(refused == 7)
        try await store.record(report, request: Sample.request(), tests: Sample.tests, files: room.files(), in: index)
        try await store.export(from: index)
        #expect(try await store.verify(index).isEmpty)
    }

    @Test func `a full index is a full disk, and the same record succeeds later`() async throws {
        let path = room.folder.path + "/home/index.sqlite"
        let index = try Index(path: path)
        let store = store.reading(index)
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        let pages = try await index.write { db in
            let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(count)")
            return count
        }
        let files = try files(log: [UInt8](repeating: 7, count: 200 << 10))
        let error = await #expect(throws: ArchiveError.self) {
            try await store.record(Sample.report(id), request: Sample.request(), files: files, in: index)
        }
        #expect(error?.code == .diskFull)
        #expect(try await index.run(id)?.summary.state == .running)
        try await index.write { db in try db.execute(sql: "PRAGMA max_page_count = \(pages + 10_000)") }
        try await store.record(Sample.report(id), request: Sample.request(), files: files, in: index)
        #expect(try await store.export(from: index).runs == [id])
    }

    @Test func `an archive that can't be written loses nothing`() async throws {
        let id = try await room.ended()
        let objects = store.repositoryPath + "/objects"
        try FileManager.default.moveItem(atPath: objects, toPath: objects + "-away")
        try Data().write(to: URL(fileURLWithPath: objects))
        await #expect(throws: ArchiveError.self) { try await store.export(from: index) }
        try await expectWhole(id)
        #expect(try await index.queuedForArchive() == [id])
        try FileManager.default.removeItem(atPath: objects)
        try FileManager.default.moveItem(atPath: objects + "-away", toPath: objects)
        #expect(try await store.export(from: index).runs == [id])
        #expect(try await store.verify(index).isEmpty)
    }

    @Test func `an archive that is gone is begun anew with what waits`() async throws {
        let lost = try await room.completed()
        let waiting = try await room.ended(Sample.request(head: 2))
        try FileManager.default.removeItem(atPath: store.repositoryPath)
        let again = try ArchiveStore(home: store.home, queue: index)
        #expect(try await again.export(from: index).runs == [waiting])
        #expect(try await again.ids() == [waiting])
        #expect(try await again.verify(index).map(\.run) == [lost])
    }

    @Test func `a run that the archive has with another report stays in the index, and is said`() async throws {
        let id = try await room.ended(verdict: .failed)
        let foreign = try ArchiveStore(home: store.home)
        try await foreign.write(Sample.report(id), request: Sample.request())
        for _ in 1...2 {
            let outcome = try await store.export(from: index)
            #expect(outcome.runs.isEmpty)
            #expect(outcome.problems.map(\.kind) == [.contradiction])
        }
        #expect(try await store.report(id).verdict == .failed)
    }

    // MARK: Amendments

    @Test(arguments: [false, true])
    func `an answer changes the report, exported or not`(isExported: Bool) async throws {
        let id = try await room.ended(verdict: .needsApproval)
        if isExported { try await store.export(from: index) }
        var report = try await store.report(id)
        (report.verdict, report.reason) = (.passed, "approved")
        for _ in 1...2 { try await store.amend(report, in: index) }
        #expect(try await store.report(id) == report)
        #expect(try await index.run(id)?.summary.verdict == .passed)
        #expect(try await store.tests(id) == Sample.tests)
        #expect(try await store.logs(id) == ["001-1.log"])
        #expect(try await store.verify(index).isEmpty)
        for _ in 1...2 { #expect(try await store.export(from: index).problems.isEmpty) }
        let commit = try await commit(of: id)
        let parents = try await withRepository(at: store.repositoryPath) { try $0.commit(commit).parents.count }
        #expect(parents == (isExported ? 1 : 0))
        #expect(try await store.report(id) == report)
        #expect(try await store.tests(id) == Sample.tests)
        #expect(try await store.verify(index).isEmpty)
        let failed = Sample.report(id, verdict: .failed)
        let error = await #expect(throws: ArchiveError.self) { try await store.amend(failed, in: index) }
        #expect(error?.code == .alreadyArchived)
    }

    @Test func `an amendment that comes while its run is exported is exported next`() async throws {
        let id = try await room.ended(verdict: .needsApproval)
        let queued = try #require(try await index.queuedArchiveFiles(of: id))
        var report = try await store.report(id)
        report.verdict = .passed
        try await store.amend(report, in: index)
        // The export that started before ends now.
        try await index.removeFromArchiveQueue(queued.rows)
        #expect(try await index.queuedArchivePaths(of: id) == ["report.json"])
        #expect(try await store.report(id).verdict == .passed)
    }

    @Test func `what became of a fix is said with the failed run`() async throws {
        let id = try await room.completed(verdict: .failed)
        let series = FixSeries(state: .offered, reason: "it passes", wanted: 1, mayPush: false)
        try await store.amend(id, fixes: series, in: index)
        #expect(try await store.report(id).fixes == series)
        try await store.export(from: index)
        #expect(try await store.report(id).fixes == series)
        #expect(try await store.report(id).verdict == .failed)
    }

    // MARK: Retention

    @Test func `a retention removes a run that is not exported yet, and no export brings it back`() async throws {
        let old = try await ended(log: large)
        let new = try await room.ended(Sample.request(head: 2))
        let plan = try await store.plan(RetentionPolicy(maximumRuns: 1), index)
        #expect(plan.removals.map(\.run) == [old])
        async let applied: Void = store.apply(plan, index)
        async let exported = store.export(from: index)
        try await applied
        #expect(try await exported.problems.isEmpty)
        try await store.export(from: index)
        #expect(try await store.ids() == [new])
        #expect(try await index.runs().map(\.id) == [new])
        #expect(!FileManager.default.fileExists(atPath: "\(store.home)/archive-queue/\(old)"))
        #expect(try await store.verify(index).isEmpty)
    }

    // MARK: Helpers

    private var large: [UInt8] { [UInt8](repeating: 7, count: RunContents.mostOfFile + 1) }

    private func files(log: [UInt8]) throws -> RunFiles {
        try room.folder.write("run/logs/001-1.log", log)
        return RunFiles(logs: room.folder.path + "/run/logs")
    }

    private func ended(log: [UInt8]) async throws -> RunID {
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        try await store.record(Sample.report(id), request: Sample.request(), files: files(log: log), in: index)
        return id
    }

    private func commit(of id: RunID) async throws -> OID {
        try #require(try await store.refs().first { $0.id == id }?.commit)
    }

    private func expectWhole(_ id: RunID) async throws {
        #expect(try await store.report(id).id == id)
        #expect(try await store.request(id) == Sample.request())
        #expect(try await store.tests(id) == Sample.tests)
        #expect(try await store.logs(id) == ["001-1.log"])
        #expect(try await store.log(id, "001-1.log") == Array("one\ntwo\n".utf8))
        #expect(try await store.log(id, "001-1.log.times") == [1, 2, 3, 4])
        #expect(try await store.resultFiles(id) == ["001-1-1-tests.xml"])
    }
}
