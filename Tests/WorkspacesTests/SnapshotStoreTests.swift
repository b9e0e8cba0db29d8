import TestBasics
import StateFiles
import Results
import Foundation
import Git
import Layers
import Logging
import Testing

@testable import Workspaces

/// Which snapshots are kept, chosen and removed.
struct SnapshotStoreTests {
    private static let key = SnapshotKey(
        repository: "repo", workflow: "test", branch: "main", definition: "1", tools: "swift 1")

    /// A folder for snapshots, which is removed after the test.
    private func withFolder(_ body: (Shelf) async throws -> Void) async throws {
        try await withTemporaryFolder { try await body(Shelf(folder: $0)) }
    }

    private struct Shelf {
        let folder: String

        func store(limit: Int = 1 << 30) -> SnapshotStore {
            SnapshotStore(folder: folder, limit: limit, log: Logger(label: "test"))
        }

        /// Creates the layers of a snapshot above those of `below`.
        func make(
            _ run: Int64, _ key: SnapshotKey = SnapshotStoreTests.key, over below: Snapshot? = nil, bytes: Int = 10
        ) throws
            -> Snapshot
        {
            let place = "\(folder)/\(run)-1"
            for name in ["written"] + (below == nil ? ["pristine"] : []) {
                try FileManager.default.createDirectory(atPath: "\(place)/\(name)", withIntermediateDirectories: true)
            }
            try Data().write(to: URL(fileURLWithPath: "\(place)/index"))
            let own = (["written"] + (below == nil ? ["pristine"] : [])).map {
                Layer(path: "\(place)/\($0)", owner: 0, group: 0)
            }
            let digits = String(run, radix: 16)
            return Snapshot(
                SnapshotFacts(
                    key: key, run: run, commit: String(repeating: "a", count: 40),
                    tree: String(repeating: "0", count: 40 - digits.count) + digits,
                    createdAt: Date(timeIntervalSince1970: Double(run)), cleanAt: Date(timeIntervalSince1970: 0),
                    isClean: below == nil),
                folder: "\(run)-1", layers: own + (below?.layers ?? []), index: "\(place)/index", bytes: bytes,
                boot: Boot.id)
        }

        var names: Set<String> {
            Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        }
    }

    private func take(_ store: SnapshotStore, _ key: SnapshotKey = key, leavesBase: Bool = false, like run: Int) async
        -> SnapshotUse?
    {
        await store.take(key, leavesBase: leavesBase) { tree in
            abs((Int(tree.hex, radix: 16) ?? 1_000) - run)
        }
    }

    @Test func `the smallest difference is chosen`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            for run: Int64 in [10, 20, 30] { try await store.add(shelf.make(run)) }
            #expect(await take(store, like: 19)?.snapshot.run == 20)
            #expect(await take(store, like: 12)?.changedFiles == 2)
            #expect(await take(store, like: 99)?.snapshot.run == 30)
            var other = SnapshotStoreTests.key
            other.tools = "swift 2"
            #expect(await take(store, other, like: 20) == nil)
        }
    }

    @Test func `three snapshots of a kind are kept, with those below them`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            let first = try shelf.make(1)
            try await store.add(first)
            let second = try shelf.make(2, over: first)
            try await store.add(second)
            for run: Int64 in [3, 4] { try await store.add(shelf.make(run)) }
            #expect(await store.all.map(\.run) == [4, 3, 2])
            #expect(shelf.names == ["1-1", "2-1", "3-1", "4-1"], "the second lies on the first")
            try await store.add(shelf.make(5))
            #expect(shelf.names == ["3-1", "4-1", "5-1"])
        }
    }

    /// Only removable snapshots free space, and one that frees none is not removed for it.
    @Test func `the limit is kept`() async throws {
        try await withFolder { shelf in
            let store = shelf.store(limit: 100)
            var other = SnapshotStoreTests.key
            other.branch = "release"
            try await store.add(shelf.make(1, other, bytes: 30))
            let first = try shelf.make(2, bytes: 40)
            try await store.add(first)
            #expect(await take(store, leavesBase: true, like: 2)?.snapshot.run == 2)
            let second = try shelf.make(3, over: first, bytes: 30)
            try await store.add(second)
            #expect(await store.all.map(\.run) == [3, 2, 1])
            #expect(await take(store, leavesBase: true, like: 3)?.snapshot.run == 2, "over the third would be too much")
            #expect(await take(store, like: 3)?.snapshot.run == 3)
            try await store.add(shelf.make(4, bytes: 20))
            #expect(await store.all.map(\.run) == [4, 2, 1], "of its own kind first, and none that others need")
            #expect(await store.bytes == 90)
            let large = try shelf.make(5, bytes: 90)
            try await store.add(large)
            #expect(await store.all.map(\.run) == [5])
            #expect(
                await take(store, leavesBase: true, like: 5)?.snapshot.run == 5, "one alone may be as large as it is")
            try await store.add(shelf.make(6, other, bytes: 0))
            try await store.add(shelf.make(7, over: large, bytes: 30))
            #expect(await store.all.map(\.run) == [7, 6, 5], "nothing that could go takes any room")
        }
    }

    @Test func `a snapshot with a time in the future is not newer than others`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            var future = try shelf.make(1)
            future.facts.createdAt = Date(timeIntervalSinceNow: 86_400)
            future.facts.key.definition = "other"
            try await store.add(future)
            try await store.add(shelf.make(2))
            try await store.add(shelf.make(3))
            #expect(await take(store, like: 3)?.snapshot.run == 3)
        }
    }

    @Test func `a snapshot in use stays until it is given back`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            try await store.add(shelf.make(1))
            let use = await take(store, like: 1)
            #expect(use?.snapshot.run == 1)
            #expect(await store.remove { _ in true } == 1)
            #expect(await take(store, like: 1) == nil, "nobody else begins from it")
            #expect(shelf.names == ["1-1"])
            await store.giveBack(use)
            #expect(shelf.names.isEmpty)
        }
    }

    @Test func `a workspace over a dropped snapshot becomes no snapshot`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            let wrong = try shelf.make(1)
            try await store.add(wrong)
            let use = await take(store, like: 1)
            #expect(await store.giveUp(SnapshotStoreTests.key.line, until: 2) == 1)
            let above = try shelf.make(2, over: wrong)
            await #expect(throws: (any Error).self) { try await store.add(above) }
            try await store.add(shelf.make(3))
            await store.giveBack(use)
            #expect(await store.all.map(\.run) == [3])
        }
    }

    /// For example one of code that the branch was moved back from, over one of code that is still there.
    @Test func `a snapshot below a removed one can still be used`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            let good = try shelf.make(1)
            try await store.add(good)
            try await store.add(shelf.make(2, over: good))
            #expect(await store.remove { $0.run == 2 } == 1)
            try await store.add(shelf.make(3, over: good))
            #expect(await store.all.map(\.run) == [3, 1])
        }
    }

    @Test func `a snapshot that was removed for lack of space is not made again`() async throws {
        try await withFolder { shelf in
            let store = shelf.store(limit: 35)
            func isLost(_ run: RunID, tools: String = "swift 1", room: Int = 0) async -> Bool {
                await store.isLost(ofRun: run, tools: tools, room: room)
            }
            #expect(await isLost(1), "an earlier process may have had it")
            for run: RunID in 1...7 { await store.noteTry(run) }
            #expect(await !isLost(1), "it left none")
            for run: Int64 in [1, 2, 3] { try await store.add(shelf.make(run)) }
            #expect(await !isLost(1), "it is there")
            #expect(await isLost(1, tools: "swift 2"))
            await store.remove { $0.run == 1 }
            #expect(await isLost(1))
            await store.remove(.never) { $0.run == 2 }
            #expect(await !isLost(2))
            try await store.add(shelf.make(4, bytes: 30))
            #expect(await store.all.map(\.run) == [4])
            #expect(await !isLost(3), "there was no room for it")
            await store.noteLoss(3)
            #expect(await isLost(3))
            await store.remove(.whenThereIsRoom) { _ in true }
            #expect(await !isLost(4, room: 59), "the disk would be as full again")
            #expect(await isLost(4, room: 60))
        }
    }

    /// The first of several changes of the tools gives the same key as the last.
    @Test func `a snapshot that newer ones replaced is made again`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            for run: RunID in 1...9 { await store.noteTry(run) }
            var other = SnapshotStoreTests.key
            other.tools = "swift 2"
            try await store.add(shelf.make(1))
            try await store.add(shelf.make(2, other))
            #expect(await store.all.map(\.run) == [2])
            for (run, tools) in [(1, "swift 3"), (2, "swift 3"), (1, "swift 1")] {
                #expect(await store.isLost(ofRun: RunID(run), tools: tools, room: 0))
            }
            for run: Int64 in [3, 4, 5] { try await store.add(shelf.make(run, other)) }
            #expect(await store.isLost(ofRun: 2, tools: "swift 2", room: 0), "three of a kind are kept")
            #expect(await store.has(other, at: String(repeating: "a", count: 40)))
            #expect(await !store.has(other, at: String(repeating: "b", count: 40)))
        }
    }

    /// Its products would be newer than the files that a run writes over them.
    @Test func `a snapshot with a time in the future is not used`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            var future = try shelf.make(1)
            future.facts.createdAt = Date(timeIntervalSinceNow: 3_600)
            try await store.add(future)
            #expect(await take(store, like: 1) == nil)
            #expect(await !store.has(SnapshotStoreTests.key))
            try await store.add(shelf.make(2))
            #expect(await take(store, like: 1)?.snapshot.run == 2)
        }
    }

    @Test func `a snapshot without its index is not used`() async throws {
        try await withFolder { shelf in
            try await shelf.store().add(shelf.make(1))
            try FileManager.default.removeItem(atPath: "\(shelf.folder)/1-1/index")
            #expect(await shelf.store().all.isEmpty)
        }
    }

    @Test func `without any space there is no snapshot`() async throws {
        try await withFolder { shelf in
            try await shelf.store().add(shelf.make(1))
            await shelf.store(limit: 0).clear()
            #expect(shelf.names.isEmpty)
        }
    }

    @Test func `a restart uses complete snapshots and removes the rest`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            let first = try shelf.make(1)
            try await store.add(first)
            try await store.add(shelf.make(2, over: first))
            for run: Int64 in [3, 4, 5] { try await store.add(shelf.make(run)) }
            _ = try shelf.make(6)
            try FileManager.default.removeItem(atPath: "\(shelf.folder)/4-1/written")
            try Data("{".utf8).write(to: URL(fileURLWithPath: "\(shelf.folder)/3-1/base.json"))
            let later = shelf.store()
            #expect(await later.all.map(\.run) == [5])
            await later.clear()
            #expect(shelf.names == ["5-1"])
            #expect(await later.bytes == 10)
        }
    }

    @Test func `after a power failure only flushed snapshots are used`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            var lost = try shelf.make(2)
            lost.boot = "another start of the system"
            try await store.add(lost)
            #expect(await shelf.store().all.isEmpty)
            let flushed = shelf.store()
            var kept = try shelf.make(3)
            kept.boot = "another start of the system"
            try await flushed.add(kept)
            await flushed.flush()
            #expect(await shelf.store().all.map(\.run) == [3])
        }
    }

    @Test func `a copied state folder does not use the other's layers`() async throws {
        try await withFolder { shelf in
            try await shelf.store().add(shelf.make(1))
            let copy = shelf.folder + "-copy"
            try FileManager.default.copyItem(atPath: shelf.folder, toPath: copy)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            #expect(await Shelf(folder: copy).store().all.isEmpty)
        }
    }

    @Test func `the limit removes the oldest but never the newest`() async throws {
        try await withFolder { shelf in
            let store = shelf.store(limit: 25)
            for run: Int64 in [1, 2, 3] { try await store.add(shelf.make(run)) }
            #expect(await store.all.map(\.run) == [3, 2])
            try await store.add(shelf.make(4, bytes: 100))
            #expect(await store.all.map(\.run) == [4])
            #expect(shelf.names == ["4-1"])
        }
    }

    @Test func `other tools drop snapshots that old ones built`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            try await store.add(shelf.make(1))
            var newer = SnapshotStoreTests.key
            newer.tools = "swift 2"
            var elsewhere = SnapshotStoreTests.key
            elsewhere.branch = "release"
            try await store.add(shelf.make(2, elsewhere))
            try await store.add(shelf.make(3, newer))
            #expect(await store.all.map(\.run) == [3, 2])
        }
    }

    @Test func `a chain of snapshots ends before it is too deep`() async throws {
        try await withFolder { shelf in
            let store = shelf.store()
            var last: Snapshot?
            for run in 1...Int64(SnapshotStore.deepest - 1) {
                let snapshot = try shelf.make(run, over: last)
                try await store.add(snapshot)
                last = snapshot
            }
            #expect(last?.layers.count == SnapshotStore.deepest)
            #expect(
                await take(store, like: SnapshotStore.deepest)?.snapshot.run == last?.run,
                "a change may lie on the deepest"
            )
            #expect(
                await take(store, leavesBase: true, like: SnapshotStore.deepest)?.snapshot.run
                    == Int64(SnapshotStore.deepest - 2))
        }
    }
}
