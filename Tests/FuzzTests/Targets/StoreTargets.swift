import Foundation
import Git
import TestBasics
import TestSupport

@testable import Archive

extension FuzzTarget {
    /// The journal of `archive.git` after a power cut: a file and what one of its records says.
    static let journal = FuzzTarget.pure(
        "journal", words: ["PCJ1", "refs/runs/"], limit: 64 << 10,
        corpus: {
            let objects = try loose(Array("{}".utf8), [UInt8](repeating: 7, count: 3_000))
            let record = JournalRecord(ref: "refs/runs/1", commit: objects[0].id, objects: objects)
            let framed = ArchiveJournal.framed(record.content, 7)
            return [record.content, framed, framed + ArchiveJournal.framed(record.content, 8)]
        }
    ) { bytes, _ in
        if let record = JournalRecord(content: bytes[...]) {
            try demand(record.content == bytes, "a record that reads otherwise than it is written")
        }
        let records = ArchiveJournal.records(in: bytes)
        let size = records.reduce(0) { $0 + $1.content.count }
        try demand(size <= bytes.count, "\(size) bytes of records in \(bytes.count)")
    }

    /// The file of a loose object, which anybody may have made who writes to a watched repository.
    static let object = FuzzTarget(
        name: "object", corpus: { try loose([], Array("small\n".utf8), [UInt8](0...255)).map(\.bytes) },
        words: ["blob ", "\0", "x\u{1}", "tree "], limit: 16 << 10
    ) { loop in
        try await withFuzzFolder { folder in
            let repository = try Repository.create(bareAt: folder + "/r.git")
            let known = try loose([], Array("small\n".utf8), [UInt8](0...255))
            for object in known {
                try FileManager.default.createDirectory(
                    atPath: (repository.looseFile(of: object.id) as NSString).deletingLastPathComponent,
                    withIntermediateDirectories: true)
            }
            try await loop { input, random in
                let id = random.pick(known).id
                try Data(input.bytes).write(to: URL(fileURLWithPath: repository.looseFile(of: id)))
                do { _ = try repository.blob(id) } catch let error as GitError {
                    try demand(!error.description.isEmpty, "an error without words")
                }
            }
        }
    }

    private static func loose(_ contents: [UInt8]...) throws -> [LooseObject] {
        try withTemporaryRepository { repository in
            let batch = ObjectBatch(repository, holding: 1 << 20)
            for content in contents { _ = try batch.add(blob: content) }
            return batch.held ?? []
        }
    }

    private static func withTemporaryRepository<T>(_ body: (Repository) throws -> T) throws -> T {
        let path = FileManager.default.temporaryDirectory.path + "/pipectl-fuzz-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(try Repository.create(bareAt: path))
    }
}
