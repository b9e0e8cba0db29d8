import Foundation
import GitFixture
import Testing

@testable import Git

/// A file that a disk has damaged must give an error at once.
@Suite(.timeLimit(.minutes(2))) struct DamagedObjectTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test(arguments: [0, 1, 2, 10, 40, 64, 500, 5_000, 9_999])
    func `a truncated object is an error`(_ size: Int) throws {
        let lender = try Repository.create(bareAt: fixture["lender.git"])
        let noise = (0..<10_000).map { _ in UInt8.random(in: .min ... .max) }
        let small = Array("small\n".utf8)
        let (blob, other) = (try lender.createBlob(noise), try lender.createBlob(small))
        let borrower = try Repository.create(bareAt: fixture["borrower.git"], borrowing: fixture["lender.git"])
        #expect(try borrower.blob(blob) == noise)
        #expect(try borrower.blob(other) == small)
        for id in [blob, other] { try cut(lender.looseFile(of: id), to: size) }
        for path in ["lender.git", "borrower.git"] {
            let repository = try Repository(opening: fixture[path])
            let error = #expect(throws: GitError.self) { try repository.blob(blob) }
            #expect(error?.description.contains("damaged") == true, "\(String(describing: error))")
            if size < 20 { #expect(throws: GitError.self) { try repository.blob(other) } }
            _ = try? repository.size(of: blob)
        }
    }

    @Test func `a truncated tree or commit is an error`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        let blob = try repository.createBlob([1])
        let tree = try repository.createTree(["a/b": .blob(blob), "c": .blob(blob)])
        let commit = try repository.createCommit(
            tree: tree, parents: [], author: ada, committer: ada, message: "One\n")
        try repository.setRef("refs/heads/main", to: commit, message: "test")
        for id in [tree, commit] {
            let whole = try Data(contentsOf: URL(fileURLWithPath: repository.looseFile(of: id)))
            try cut(repository.looseFile(of: id), to: whole.count - 3)
            let other = try Repository(opening: fixture["store.git"])
            #expect(throws: GitError.self) { try other.entry("a/b", at: commit) }
        }
    }

    /// Bytes that are not an object, of each kind that is read in another way.
    @Test func `an object with other bytes is an error`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        let long = [UInt8](repeating: 65, count: 300)
        let contents: [[UInt8]] = [
            Array("blob 3\0abcd".utf8), Array("blob 5\0abcd".utf8), Array("blob -1\0".utf8), Array("blob \0".utf8),
            Array("blob 3".utf8), Array("blobs 3\0abc".utf8), Array("blob 99999999999999999999\0abc".utf8),
            Array("blob 536870912\0abc".utf8), long, [], Array("tree 3\0abc".utf8),
        ]
        for (number, content) in contents.enumerated() {
            let id = try #require(OID(hex: String(format: "%040x", number + 1)))
            let path = repository.looseFile(of: id)
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(Self.zlib(content)).write(to: URL(fileURLWithPath: path))
            #expect(throws: GitError.self) { try Repository(opening: fixture["store.git"]).blob(id) }
        }
    }

    @Test func `a complete packed object is read instead of a truncated one`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        let noise = (0..<10_000).map { _ in UInt8.random(in: .min ... .max) }
        let blob = try repository.createBlob(noise)
        let commit = try repository.createCommit(
            tree: repository.createTree(["f": .blob(blob)]), parents: [], author: ada, committer: ada, message: "One\n")
        try repository.setRef("refs/heads/main", to: commit, message: "test")
        let loose = repository.looseFile(of: blob)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: loose))
        try fixture.git(["repack", "--quiet", "-a", "-d"], in: fixture["store.git"])
        #expect(!FileManager.default.fileExists(atPath: loose))
        try FileManager.default.createDirectory(
            atPath: (loose as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try bytes.prefix(100).write(to: URL(fileURLWithPath: loose))
        #expect(try Repository(opening: fixture["store.git"]).blob(blob) == noise)
    }

    /// Every size near the limits, written by Git and read by us.
    @Test func `complete objects are read unchanged`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        for size in [0, 1, 40, 55, 56, 57, 58, 63, 64, 65, 1_000, 70_000, 3_000_000] {
            for bytes in [
                [UInt8](repeating: 7, count: size), (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 97 >> 3) },
            ] {
                try Data(bytes).write(to: URL(fileURLWithPath: fixture["file"]))
                let hex = try fixture.git(["hash-object", "-w", fixture["file"]], in: fixture["store.git"])
                let id = try #require(OID(hex: hex.trimmingCharacters(in: .whitespacesAndNewlines)))
                #expect(try repository.blob(id) == bytes)
            }
        }
    }

    /// `content`, at most 65,535 bytes of it, as a zlib stream of one block that is not compressed (RFC 1950, 1951).
    private static func zlib(_ content: [UInt8]) -> [UInt8] {
        let size = UInt16(content.count)
        let (sum, other) = content.reduce((1 as UInt32, 0 as UInt32)) { sums, byte in
            let first = (sums.0 + UInt32(byte)) % 65_521
            return (first, (sums.1 + first) % 65_521)
        }
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        return [0x78, 0x01, 0x01] + bytes(size.littleEndian) + bytes((~size).littleEndian) + content
            + bytes((other << 16 | sum).bigEndian)
    }

    private func cut(_ path: String, to size: Int) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: path)
        try bytes.prefix(min(size, bytes.count - 1)).write(to: URL(fileURLWithPath: path))
    }
}
