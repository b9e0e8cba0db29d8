import Foundation
import Testing

@testable import Git

/// Objects that are written together are the same as those that Git and libgit2 write one by one.
@Suite(.timeLimit(.minutes(2))) struct ObjectBatchTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func objectsAreThoseOfLibgit2() throws {
        let one = try Repository.create(bareAt: fixture["one.git"])
        let other = try Repository.create(bareAt: fixture["other.git"])
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try Data(bytes).write(to: URL(fileURLWithPath: fixture["file"]))
        let batch = ObjectBatch(one)
        let blob = try batch.add(blobFromFile: fixture["file"])
        #expect(try blob == other.createBlob(bytes))
        let empty = try batch.add(blob: [])
        #expect(try empty == other.createBlob([]))
        // Folders sort as if they ended with a slash: between "dir.a" and "dir0".
        let files: [String: TreeFile] = [
            "a": .blob(empty), "dir/b": .blob(blob, executable: true), "dir/c/d": .blob(empty), "dir.a": .blob(empty),
            "dir0": .blob(blob), "ä": .blob(empty),
        ]
        let tree = try batch.add(tree: files)
        #expect(try tree == other.createTree(files))
        let commit = try batch.add(commitOf: tree, by: ada, message: "One\n")
        #expect(
            try commit == other.createCommit(tree: tree, parents: [], author: ada, committer: ada, message: "One\n"))
        #expect(!one.contains(commit), "nothing has its name before the bytes of all are written out")
        try batch.finish()
        try one.setRef("refs/runs/1", to: commit, message: "test")
        try fixture.git(["fsck", "--strict", "--full"], in: fixture["one.git"])
        #expect(try one.blob(blob) == bytes)
        #expect(try temporaries(in: "one.git") == [])
    }

    @Test func `objects beyond the limits are written, too`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        let batch = ObjectBatch(repository)
        let large = [UInt8](repeating: 7, count: ObjectBatch.sizeLimit + 1)
        var files = ["large": TreeFile.blob(try batch.add(blob: large))]
        for number in 0..<200 { files["f\(number)"] = .blob(try batch.add(blob: Array("\(number)".utf8))) }
        let commit = try batch.add(commitOf: try batch.add(tree: files), by: ada, message: "Many\n")
        try batch.finish()
        try repository.setRef("refs/runs/1", to: commit, message: "test")
        try fixture.git(["fsck", "--strict", "--full"], in: fixture["store.git"])
        let again = ObjectBatch(repository)
        _ = try again.add(tree: files)
        #expect(try temporaries(in: "store.git") == [], "what is there is not written again")
        try again.finish()
    }

    @Test func `an unfinished batch leaves nothing`() throws {
        let repository = try Repository.create(bareAt: fixture["store.git"])
        var batch: ObjectBatch? = ObjectBatch(repository)
        let blob = try #require(try batch?.add(blob: [1, 2, 3]))
        #expect(try temporaries(in: "store.git").count == 1)
        batch = nil
        #expect(try temporaries(in: "store.git") == [])
        #expect(!repository.contains(blob))
    }

    @Test(arguments: ["", "/a", "a//b", "../x", "a/./b", ".git/config", "dir/.GIT/x", "f/under", "nul\0"])
    func badPathsAreRefused(_ path: String) throws {
        let batch = ObjectBatch(try Repository.create(bareAt: fixture["store.git"]))
        let blob = try batch.add(blob: [1])
        #expect(throws: GitError.self) { try batch.add(tree: [path: .blob(blob), "f": .blob(blob)]) }
    }

    @Test func onlyRegularFilesAreRead() throws {
        let batch = ObjectBatch(try Repository.create(bareAt: fixture["store.git"]))
        try FileManager.default.createSymbolicLink(atPath: fixture["link"], withDestinationPath: "/etc/passwd")
        for path in ["link", "missing", "."] {
            #expect(throws: GitError.self) { try batch.add(blobFromFile: fixture[path]) }
        }
    }

    private func temporaries(in store: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture[store] + "/objects").filter { $0.hasPrefix("tmp_") }
    }
}
