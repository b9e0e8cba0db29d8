import Foundation
import Git
import TestBasics
import TestSupport

extension FuzzTarget {
    /// The file of a loose object, which any user with write access to a watched repository may have made.
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

    /// The files of blobs with these contents, as Git has them.
    private static func loose(_ contents: [UInt8]...) throws -> [(id: OID, bytes: [UInt8])] {
        try withTemporaryRepository { repository in
            try contents.map { content in
                let id = try repository.createBlob(content)
                return (id, Array(try Data(contentsOf: URL(fileURLWithPath: repository.looseFile(of: id)))))
            }
        }
    }

    private static func withTemporaryRepository<T>(_ body: (Repository) throws -> T) throws -> T {
        let folder = try TemporaryFolder()
        return try body(try Repository.create(bareAt: folder["repository"]))
    }
}
