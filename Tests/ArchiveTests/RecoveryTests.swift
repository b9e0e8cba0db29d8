@testable import Results
@testable import Store
@testable import Archive
import TestBasics
import Foundation
import Git
import Pipeline
import TestSupport
import Testing

@Suite struct RecoveryTests {
    @Test func `a lost index is rebuilt from the archive`() async throws {
        let room = try ArchiveRoom()
        for head in 1...5 {
            try await room.completed(
                Sample.request(change: head.isMultiple(of: 2) ? nil : "\(head)", head: head),
                verdict: head == 3 ? .failed : .passed, artifacts: head == 4 ? [ArchiveRoom.artifact] : [])
        }
        let rebuilt = try Index.inMemory { Sample.start }
        let outcome = try await room.store.reindex(into: rebuilt)
        #expect(outcome == expected(restored: 5))
        #expect(try await rebuilt.runs() == room.index.runs())
        for id in 1...5 {
            #expect(try await rebuilt.run(RunID(id)) == room.index.run(RunID(id)))
            #expect(try await rebuilt.tests(of: RunID(id)) == room.index.tests(of: RunID(id)))
        }
        #expect(try await rebuilt.runs(withArtifact: ArchiveRoom.digest) == [4])
        #expect(try await room.store.verify(rebuilt).isEmpty)
        #expect(try await rebuilt.cursor(of: "alpha") == nil, "the next look is a baseline and starts nothing")
        #expect(try await room.store.reindex(into: rebuilt) == expected(known: 5))
    }

    @Test func `numbers of archived runs are not used again after a loss`() async throws {
        let room = try ArchiveRoom()
        for head in 1...3 { try await room.completed(Sample.request(head: head)) }
        let empty = try Index.inMemory()
        #expect(try await room.store.settle(empty).added == 3, "what was tested is known again")
        #expect(try await empty.accept(Sample.request(head: 9)).run.id == 4)
        #expect(try await empty.accept(Sample.request(head: 1)).isNew == false)
        let rebuilt = try Index.inMemory()
        _ = try await room.store.reindex(into: rebuilt)
        #expect(try await rebuilt.accept(Sample.request(head: 9)).run.id == 4)
        // The same request again, in a new index that was used before it was rebuilt.
        let begun = try Index.inMemory()
        try await begun.reserve(through: 3)
        try await begun.accept(Sample.request(head: 1))
        #expect(try await room.store.reindex(into: begun).restored == 3)
    }

    @Test func `one unreadable run does not stop a rebuild`() async throws {
        let room = try ArchiveRoom()
        for head in 1...3 { try await room.completed(Sample.request(head: head)) }
        try await room.tamper(2, "report.json", Array("{ not json".utf8))
        let rebuilt = try Index.inMemory()
        let outcome = try await room.store.reindex(into: rebuilt)
        #expect(outcome.restored == 2)
        #expect(outcome.problems.map(\.run) == [2])
        #expect(outcome.problems.map(\.kind) == [.damagedRun])
    }

    @Test func `a crash between archive and index is settled`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.index.accept(Sample.request()).run.id
        try await room.index.markRunning(id)
        try await room.store.write(Sample.report(id), request: Sample.request(), tests: Sample.tests)
        #expect(try await room.store.settle(room.index).finished == [id])
        #expect(try await room.index.recoverInterrupted().isEmpty)
        let run = try #require(try await room.index.run(id)?.summary)
        #expect(run.verdict == .passed)
        #expect(run.isArchived)
        #expect(try await room.index.tests(of: id).count == Sample.tests.count)
        #expect(try await room.store.settle(room.index) == SettleOutcome())
    }

    @Test func `a crash before the archive gives an interrupted run`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.index.accept(Sample.request()).run.id
        try await room.index.markRunning(id)
        #expect(try await room.store.settle(room.index).finished.isEmpty)
        #expect(try await room.index.recoverInterrupted().map(\.outcome) == [.queued(attempt: 2)])
    }

    @Test func `settling reports a different verdict`() async throws {
        let room = try ArchiveRoom()
        let id = try await room.index.accept(Sample.request()).run.id
        try await room.store.write(Sample.report(id), request: Sample.request())
        #expect(try await room.index.cancelQueued(id, reason: "by hand"))
        let outcome = try await room.store.settle(room.index)
        #expect(outcome.finished.isEmpty)
        #expect(outcome.problems.map(\.kind) == [.contradiction])
    }

    @Test func `half-written artifacts are removed`() async throws {
        let room = try ArchiveRoom()
        try room.folder.write("home/artifacts/incoming/6F9619FF", Array("half".utf8))
        _ = try await room.store.settle(room.index)
        #expect(!FileManager.default.fileExists(atPath: room.store.home + "/artifacts/incoming"))
        #expect(try await room.store.plan(RetentionPolicy(), room.index).artifacts.isEmpty)
        try await room.completed(artifacts: [ArchiveRoom.artifact])
        #expect(room.store.artifact(ArchiveRoom.digest) != nil)
    }

    @Test func `a copy to where nothing is says that, and not that the archive is broken`() async throws {
        let room = try ArchiveRoom()
        try await room.completed()
        try room.folder.write("file", [1])
        for place in ["missing.git", "file"] {
            let error = await #expect(throws: ArchiveError.self) {
                try await room.store.push(to: room.folder.path + "/" + place)
            }
            #expect(error?.code == .unusableCopy, "\(place)")
        }
    }

    @Test func `a copy contains every run`() async throws {
        let room = try ArchiveRoom()
        for head in 1...3 { try await room.completed(Sample.request(head: head)) }
        let copy = room.folder.path + "/copy/archive.git"
        _ = try Repository.create(bareAt: copy)
        #expect(try await room.store.push(to: copy) == 3)
        #expect(try await room.store.push(to: copy) == 3, "a second time finds nothing to do")
        let restored = try ArchiveStore(home: room.folder.path + "/copy")
        #expect(try await restored.ids() == [1, 2, 3])
        #expect(try await restored.verify(room.index).isEmpty)
    }

    @Test func `maintenance is suggested only if it pays`() async throws {
        let room = try ArchiveRoom()
        try await room.completed()
        let little = try room.store.maintenance()
        #expect(!little.isNeeded)
        #expect(little.looseRefs == 1)
        for number in 0..<30 { try room.folder.write("home/archive.git/objects/17/\(number)", []) }
        let much = try room.store.maintenance()
        #expect(much.looseObjects >= 30 * 256)
        #expect(much.isNeeded)
        #expect(much.command == ["git", "-C", room.store.repositoryPath, "-c", "core.fsync=all", "gc", "--quiet"])
    }

    private func expected(restored: Int = 0, known: Int = 0) -> ReindexOutcome {
        var outcome = ReindexOutcome()
        outcome.restored = restored
        outcome.known = known
        return outcome
    }
}
