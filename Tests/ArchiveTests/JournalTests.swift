@testable import Engine
@testable import Results
@testable import Store
@testable import Archive
import Foundation
import Git
import Sandbox
import TestSupport
import Testing

/// Runs that are on disk in the journal before they are in the archive's files.
@Suite(.timeLimit(.minutes(2))) struct JournalTests {
    private let room: ArchiveRoom
    private var journal: ArchiveJournal { room.store.journal }

    init() throws {
        room = try ArchiveRoom()
        room.store.beginJournal()
    }

    /// What a power cut does to a file whose bytes were not flushed.
    enum Damage: CaseIterable { case gone, empty, zeros, cut, untouched }

    @Test func aRunCanBeReadAtOnceAndTheJournalHasIt() async throws {
        let id = try await room.completed()
        let records = try journal.records()
        #expect(records.map(\.ref) == ["refs/runs/\(id)"])
        #expect(records[0].objects.count > 4)
        let other = try ArchiveStore(home: room.store.home)
        #expect(try await other.report(id) == room.store.report(id))
        try await expectSound(room.store.repositoryPath)
        try await room.store.flush()
        #expect(try journal.records() == [])
        #expect(journal.load == nil)
        #expect(try await room.store.verify(room.index).isEmpty)
    }

    @Test(arguments: Damage.allCases, [false, true])
    func whatAPowerCutTookIsWrittenAgain(_ damage: Damage, refsToo: Bool) async throws {
        var ids: [RunID] = []
        for head in 1...3 { ids.append(try await room.completed(Sample.request(head: head))) }
        let records = try journal.records()
        try await withRepository(at: room.store.repositoryPath) { repository in
            for id in Set(records.flatMap(\.objects).map(\.id)) { try apply(damage, to: repository.looseFile(of: id)) }
            for record in records where refsToo { try apply(damage, to: repository.looseFile(of: record.ref)) }
        }
        let next = try ArchiveStore(home: room.store.home)
        #expect(try await next.recover() == (damage == .untouched ? [] : ids))
        #expect(try next.journal.records() == [])
        #expect(try await next.verify(room.index).isEmpty)
        try await expectSound(next.repositoryPath)
        #expect(try await next.recover() == [], "a second time finds nothing to do")
    }

    @Test func aRecordHasAlsoWhatTheArchiveHad() async throws {
        try await room.completed(Sample.request(head: 1))
        try await room.store.flush()
        let id = try await room.completed(Sample.request(head: 2))
        let record = try #require(try journal.records().first)
        // The logs are those of the first run, which somebody else wrote.
        let log = try await room.object(id, "logs/001-1.log")
        #expect(record.objects.contains { "\(log)".hasSuffix("\($0.id.hex.dropFirst(2))") })
        try FileManager.default.removeItem(atPath: log)
        let next = try ArchiveStore(home: room.store.home)
        #expect(try await next.recover() == [id])
        #expect(try await next.log(id, "001-1.log") == Array("one\ntwo\n".utf8))
    }

    @Test func allThatIsNewIsToBeFlushed() async throws {
        let id = try await room.completed()
        let record = try #require(try journal.records().first)
        guard case .paths(let paths) = await journal.beginFlush() else { throw CancellationError() }
        let wanted = try await withRepository(at: room.store.repositoryPath) { repository in
            record.objects.map { repository.looseFile(of: $0.id) } + [repository.looseFile(of: "refs/runs/\(id)")]
        }
        #expect(paths.isSuperset(of: wanted))
        #expect(paths.isSuperset(of: wanted.dropLast().map { ($0 as NSString).deletingLastPathComponent }))
        #expect(journal.endFlush(true))
    }

    @Test func aRefThatMovedSinceStaysWhereItIs() async throws {
        let id = try await room.completed(verdict: .needsApproval)
        var report = try await room.store.report(id)
        report.verdict = .passed
        try await room.store.amend(report)
        let next = try ArchiveStore(home: room.store.home)
        #expect(try await next.recover() == [])
        #expect(try await next.report(id).verdict == .passed)
    }

    @Test func theListEndsWhereItIsTorn() async throws {
        for head in 1...3 { try await room.completed(Sample.request(head: head)) }
        let whole = try journal.records()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: journal.path)))
        #expect(bytes.count == ArchiveJournal.size)
        let last = try #require(bytes.lastIndex { $0 != 0 })
        bytes[last] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: journal.path))
        #expect(try journal.records() == Array(whole.prefix(2)))
        bytes[200] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: journal.path))
        #expect(try journal.records() == [])
        for size in [0, 3, 40, 500] {
            try Data(bytes.prefix(size)).write(to: URL(fileURLWithPath: journal.path))
            #expect(try journal.records() == [])
        }
    }

    @Test func whatIsLeftOfOlderRecordsIsNoneOfTheList() async throws {
        let objects = [LooseObject(id: try #require(OID(hex: String(repeating: "a", count: 40))), bytes: [1, 2, 3])]
        func append(_ number: Int) {
            let record = JournalRecord(ref: "refs/runs/\(number)", commit: objects[0].id, objects: objects)
            #expect(journal.append(record))
            journal.placed([])
        }
        for number in 1...5 { append(number) }
        #expect(await journal.beginFlush() == .paths([]))
        #expect(!journal.append(JournalRecord(ref: "refs/runs/6", commit: objects[0].id, objects: [])))
        #expect(journal.endFlush(true))
        // As long as the ones before: what follows it begins where a record may begin.
        append(7)
        #expect(try journal.records().map(\.ref) == ["refs/runs/7"])
        let next = ArchiveJournal(repository: room.store.repositoryPath)
        #expect(try next.records() == journal.records())
    }

    /// The disk has lost what it was told to flush, and says so once only.
    @Test func afterAFlushThatFailedEverythingIsWrittenAnew() async throws {
        let id = try await room.completed()
        _ = await journal.beginFlush()
        #expect(!journal.endFlush(false))
        #expect(try journal.records().count == 1)
        try await room.completed(Sample.request(head: 2))
        #expect(try journal.records().count == 1, "the next is flushed by itself")
        let report = try await room.object(id, "report.json")
        try apply(.zeros, to: report)
        try await room.store.flush()
        #expect(try journal.records() == [])
        #expect(try await room.store.verify(room.index).isEmpty)
        try await room.completed(Sample.request(head: 3))
        #expect(try journal.records().count == 1)
    }

    @Test func twoWritersOfOneRunAreOne() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 1...8 {
                group.addTask { [store = room.store] in
                    try await store.write(Sample.report(1), request: Sample.request())
                }
            }
            try await group.waitForAll()
        }
        let refs = try FileManager.default.contentsOfDirectory(atPath: room.store.repositoryPath + "/refs/runs")
        #expect(refs == ["1"])
        await #expect(throws: ArchiveError.self) {
            try await room.store.write(Sample.report(1, verdict: .failed), request: Sample.request())
        }
    }

    @Test(arguments: [false, true]) func whatIsNoFileIsRefused(isLink: Bool) async throws {
        let other = try ArchiveRoom()
        let path = other.store.journal.path
        if isLink {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: journal.path)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try await room.completed()
        let error = await #expect(throws: ArchiveError.self) { try await other.store.recover() }
        #expect(error?.description.contains("move it away") == true, "\(String(describing: error))")
    }

    @Test func largeRunsAreFlushedByThemselves() async throws {
        let noise = (0..<200_000).map { _ in UInt8.random(in: .min ... .max) }
        try room.folder.write("large/1.log", noise)
        try await room.store.write(
            Sample.report(1), request: Sample.request(), files: RunFiles(logs: room.folder.path + "/large"))
        #expect(journal.load == nil)
        #expect(try await room.store.log(1, "1.log") == noise)
    }

    @Test func withoutAJournalRunsAreFlushedByThemselves() async throws {
        let other = try ArchiveRoom()
        try FileManager.default.createDirectory(
            atPath: other.store.journal.path + "/x", withIntermediateDirectories: true)
        other.store.beginJournal()
        try await other.completed()
        #expect(try await other.store.verify(other.index).isEmpty)
    }

    @Test func removedRunsDoNotComeBack() async throws {
        for head in 1...3 { try await room.completed(Sample.request(change: "1", head: head)) }
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 1), room.index)
        try await room.store.apply(plan, room.index)
        let next = try ArchiveStore(home: room.store.home)
        #expect(try await next.recover() == [])
        #expect(try await next.ids() == [3])
    }

    @Test func manyWriteWhileItIsEmptied() async throws {
        let flushing = Task { [store = room.store] in
            while !Task.isCancelled { try await store.flush() }
        }
        try await withThrowingTaskGroup { group in
            for number in 1...60 {
                group.addTask { [store = room.store] in
                    try await store.write(Sample.report(RunID(number)), request: Sample.request())
                }
            }
            try await group.waitForAll()
        }
        flushing.cancel()
        try await flushing.value
        try await room.store.flush()
        #expect(try journal.records() == [])
        #expect(try await room.store.ids().count == 60)
        try await expectSound(room.store.repositoryPath)
    }

    @Test func itIsEmptiedWhenNothingComes() async throws {
        let keeping = Task { [store = room.store] in
            await store.keepFlushing(rest: .milliseconds(10)) { try? await store.flush() }
        }
        for head in 1...2 {
            try await room.completed(Sample.request(head: head))
            try await until { journal.load == nil }
        }
        keeping.cancel()
        await keeping.value
        #expect(try journal.records() == [])
    }

    private func expectSound(_ repository: String) async throws {
        let found = try await Tool("git", ["-C", repository, "fsck", "--strict", "--full"]).run()
        #expect(found.succeeded, "\(found.text)")
    }

    private func until(_ isDone: () -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(30)
        while !isDone() {
            try #require(ContinuousClock.now < limit)
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

@Sendable private func apply(_ damage: JournalTests.Damage, to path: String) throws {
    let file = URL(fileURLWithPath: path)
    let bytes = [UInt8](try Data(contentsOf: file))
    let left: [UInt8]
    switch damage {
    case .untouched: return
    case .gone: return try FileManager.default.removeItem(at: file)
    case .empty: left = []
    case .zeros: left = [UInt8](repeating: 0, count: bytes.count)
    case .cut: left = Array(bytes.prefix(bytes.count / 2))
    }
    // The file of an object is read-only.
    try FileManager.default.removeItem(at: file)
    try Data(left).write(to: file)
}
