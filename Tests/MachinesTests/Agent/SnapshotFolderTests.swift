import Foundation
import Git
@testable import Layers
import MachineProtocol
import TestBasics
import Testing

@testable import MachineAgent

/// The snapshots that agents keep on their machine.
@Suite(.timeLimit(.minutes(5))) struct SnapshotFolderTests {
    private struct Ground {
        let root: String
        let folder: SnapshotFolder

        /// Keeps a snapshot above those of `below`, which takes as many bytes as is said.
        @discardableResult func keep(
            _ note: String, over below: SnapshotFolder.Record? = nil, bytes: Int = 10, limit: Int = 1_000,
            in other: SnapshotFolder? = nil
        ) throws -> SnapshotFolder.Record {
            let folder = other ?? folder
            let place = try folder.makePlace()
            try FileManager.default.createDirectory(
                atPath: "\(place.path)/written", withIntermediateDirectories: false)
            try Data(note.utf8).write(to: URL(fileURLWithPath: "\(place.path)/index"))
            let own = Layer(path: "\(place.path)/written", owner: 0, group: 0)
            let tree = try #require(OID(hex: String(repeating: "1", count: 40)))
            try folder.add(
                SealedLayers(layers: [own] + (below?.layers ?? []), index: "\(place.path)/index", bytes: bytes),
                tree: tree, note: Data(note.utf8), at: place, limit: limit)
            return try #require(folder.records().first { $0.name == place.name })
        }

        var notes: [String] { folder.records().map { String(decoding: $0.note, as: UTF8.self) } }
        /// Waits until so many folders of snapshots are on the disk. A process that another test starts at this moment has
        /// the locks of this one until it is another program.
        func has(_ count: Int) async throws {
            try await eventually {
                folder.remove(["nothing"])
                return (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.count ?? 0 == count
            }
        }
    }

    private func withGround(_ body: (Ground) async throws -> Void) async throws {
        try await withTemporaryFolder { root in
            try await body(Ground(root: root, folder: try folder("line", in: root)))
        }
    }

    private func folder(_ line: String, in root: String) throws -> SnapshotFolder {
        try SnapshotFolder(SnapshotPlace(repository: "app", line: line), in: root)
    }

    @Test func `three are kept, with the layers that they lie on`() async throws {
        try await withGround { ground in
            let first = try ground.keep("1")
            try ground.keep("2", over: first)
            for note in ["3", "4"] { try ground.keep(note) }
            #expect(ground.notes == ["4", "3", "2"])
            // The second lies on the first.
            try await ground.has(4)
            #expect(ground.folder.infos().map(\.bytes) == [10, 10, 20])
            #expect(ground.folder.infos().map(\.layers) == [1, 1, 2])
            try ground.keep("5")
            #expect(ground.notes == ["5", "4", "3"])
            try await ground.has(3)
        }
    }

    @Test func `what a run uses stays until the run ends`() async throws {
        try await withGround { ground in
            let record = try ground.keep("1")
            var use = ground.folder.use(record.name)
            #expect(use?.record.name == record.name)
            ground.folder.remove([record.name])
            #expect(ground.notes.isEmpty && ground.folder.use(record.name) == nil)
            #expect(FileManager.default.fileExists(atPath: record.layers[0].path))
            // What was built on it meanwhile needs it, too.
            let above = try ground.keep("2", over: record)
            use = nil
            ground.folder.remove(["nothing"])
            #expect(FileManager.default.fileExists(atPath: record.layers[0].path))
            ground.folder.remove([above.name])
            #expect(use == nil)
            try await ground.has(0)
        }
    }

    @Test func `the oldest of all lines go when they take too much, and the newest stays`() async throws {
        try await withGround { ground in
            let other = try folder("other", in: ground.root)
            try ground.keep("old", bytes: 40, limit: 100, in: other)
            try ground.keep("1", bytes: 40, limit: 100)
            try ground.keep("2", bytes: 40, limit: 100)
            #expect(other.records().isEmpty && ground.notes == ["2", "1"])
            try ground.keep("3", bytes: 400, limit: 100)
            #expect(ground.notes == ["3"])
            SnapshotFolder.removeUnused(in: ground.root, for: -1)
            #expect(ground.notes.isEmpty)
            try await ground.has(0)
        }
    }

    @Test func `one of a time to come is not used, and makes room for the next`() async throws {
        try await withGround { ground in
            for note in ["1", "2", "3"] {
                let record = try ground.keep(note)
                let path = "\(ground.folder.path)/\(record.name)/snapshot.json"
                var later = record
                later.createdAt = Date(timeIntervalSinceNow: 3_600)
                try JSONEncoder().encode(later).write(to: URL(fileURLWithPath: path))
            }
            #expect(ground.notes.isEmpty)
            try ground.keep("4")
            #expect(ground.notes == ["4"])
            try await ground.has(1)
        }
    }

    @Test func `what lost a part is used no more`() async throws {
        try await withGround { ground in
            let record = try ground.keep("1")
            try FileManager.default.removeItem(atPath: record.index)
            #expect(ground.folder.use(record.name) == nil && ground.notes.isEmpty)
        }
    }

    @Test func `half-made ones and damaged records are removed`() async throws {
        try await withGround { ground in
            let record = try ground.keep("1")
            let path = "\(ground.folder.path)/\(record.name)/snapshot.json"
            try Data("{".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.createDirectory(
                atPath: "\(ground.folder.path)/half", withIntermediateDirectories: false)
            #expect(ground.folder.use(record.name) == nil && ground.folder.infos().isEmpty)
            try await ground.has(0)
        }
    }

    @Test(arguments: ["", "..", "a/b", ".hidden", "/etc"]) func `a name leads nowhere else`(name: String) async throws {
        #expect(throws: MachineProblem.self) { try folder(name, in: "/none") }
        #expect(throws: MachineProblem.self) {
            try SnapshotFolder(SnapshotPlace(repository: name, line: "line"), in: "/none")
        }
        try await withGround { ground in
            try ground.keep("1")
            #expect(ground.folder.use(name) == nil)
            ground.folder.remove([name])
            #expect(ground.notes == ["1"])
        }
    }
}
