import TestBasics
@testable import Results
@testable import Store
@testable import Archive
import Foundation
import GRDB
import TestSupport
import Testing

/// The copy of the index: when it is made, when it is kept, and what it restores.
@Suite struct BackupTests {
    let folder: TemporaryFolder
    let path: String
    var copy: String { Index.backupPath(of: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/index.sqlite"
    }

    @Test func `the copy is complete and does not block writers`() async throws {
        let index = try Index(path: path)
        try await index.completed(Sample.request(head: 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 1...3 { try index.backUp() } }
            for number in 1...50 {
                group.addTask { try await index.accept(Sample.request(change: "\(number)", head: number + 10)) }
            }
            try await group.waitForAll()
        }
        try index.backUp()
        #expect(Index.backupDate(of: path) != nil)
        let opened = try Index(path: copy)
        #expect(try await opened.runs(RunFilter(limit: 100)).count == 51)
        #expect(try names().filter { $0.contains(".new") }.isEmpty)
    }

    @Test func `a damaged index does not replace a sound copy`() async throws {
        do {
            let index = try Index(path: path)
            for number in 1...40 { try await index.completed(Sample.request(change: "\(number)", head: number)) }
            try index.backUp()
        }
        let good = try Data(contentsOf: URL(fileURLWithPath: copy))
        let open = try Index(path: path)
        try damage()
        let error = #expect(throws: ArchiveError.self) { try open.backUp() }
        #expect(error?.code == .damagedIndex)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == good)
        #expect(try names().filter { $0.contains(".new") }.isEmpty)
    }

    @Test func `the error names the one command to run`() async throws {
        do {
            let index = try Index(path: path)
            for number in 1...40 { try await index.completed(Sample.request(change: "\(number)", head: number)) }
        }
        try damage()
        let without = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(without?.description.contains("`pipectl archive reindex`") == true)
        try Data("a copy".utf8).write(to: URL(fileURLWithPath: copy))
        let with = #expect(throws: ArchiveError.self) { try Index(path: path) }
        #expect(with?.description.contains("`pipectl archive restore`") == true)
        #expect(with?.description.contains("reindex") == false)
        #expect(Index.missing(path, runs: 3).description.contains("archive.git has 3 runs"))
    }

    @Test func `runs since the copy are neither lost nor repeated`() async throws {
        let store = try ArchiveStore(home: folder.path)
        let release = Sample.request("alpha", "release", change: nil, head: 4, atMostOnce: true)
        do {
            let index = try Index(path: path)
            try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
            try await index.accept(Sample.request(change: "1", head: 1))
            try await index.accept(Sample.request(change: "2", head: 2))
            try await index.accept(release)
            try index.backUp()
            // Since the copy: run 1 was tested and archived, and so was a run that the copy doesn't know.
            try await store.write(
                Sample.report(1, Sample.request(change: "1", head: 1)), request: Sample.request(change: "1", head: 1))
            try await store.write(
                Sample.report(9, Sample.request(change: "5", head: 5)), request: Sample.request(change: "5", head: 5))
        }
        try damage()
        let date = try Index.restoreBackup(path: path)
        let index = try Index(path: path)
        let settled = try await store.settle(index)
        #expect(settled.finished == [1])
        #expect(settled.added == 1)
        try await index.forgetSinceBackup(of: date)
        #expect(try await index.queued().map(\.id) == [2], "a test may run again, a release may not")
        let unknown = try #require(try await index.run(3)?.summary)
        #expect(unknown.verdict == .infrastructure)
        #expect(unknown.reason?.hasPrefix("unknown: check it by hand: the index was restored") == true)
        #expect(try await index.cursor(of: "alpha") == nil, "the next look is a baseline")
        #expect(try await index.accept(Sample.request(change: "5", head: 5)).isNew == false)
        #expect(try await index.accept(Sample.request(change: "6", head: 6)).run.id == 10)
        #expect(try names().contains { $0.hasPrefix("index.sqlite.damaged-") }, "the damaged one is kept")
    }

    @Test func `a damaged copy is not used`() async throws {
        do { _ = try Index(path: path) }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try Data(repeating: 0x5A, count: 50_000).write(to: URL(fileURLWithPath: copy))
        let error = #expect(throws: ArchiveError.self) { _ = try Index.restoreBackup(path: path) }
        #expect(error?.code == .damagedIndex)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    /// Overwrites pages in the middle, after everything was written there.
    private func damage() throws {
        let queue = try DatabaseQueue.patient(path)
        try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        try queue.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 4096 * 3)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 4))
        try file.close()
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
}
