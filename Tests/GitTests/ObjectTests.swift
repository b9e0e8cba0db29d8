import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct ObjectTests {
    let fixture: Fixture
    init() throws { fixture = try Fixture() }

    @Test func readsACommit() throws {
        let repository = try Repository(opening: try fixture.repository())
        let first = try fixture.id("HEAD")
        let second = try fixture.commit(["a": "1"], "Subject\n\nBody with é\n")
        let commit = try repository.commit(second)
        #expect(commit.id == second && commit.parents == [first])
        #expect(commit.tree == (try fixture.id("HEAD^{tree}")))
        #expect(commit.summary == "Subject" && commit.message.contains("é"))
        #expect(commit.author.name == "Ada" && commit.author.offsetMinutes == 120)
        #expect(try repository.resolve("HEAD~1") == first)
        #expect(repository.contains(second))
        #expect(!repository.contains(try #require(OID(hex: String(repeating: "1", count: 40)))))
        #expect(code { try repository.commit(commit.tree) } == .notFound)
        #expect(code { try repository.resolve("nonsense") } == .notFound)
        #expect(code { try repository.resolve("1") } == .notFound)
        #expect(code { try repository.resolve("HEAD^{tree}") } == .invalid)
        #expect(code { try repository.resolve("a..b") } == .invalid)
        #expect(code { try repository.resolve("") } == .invalid)
    }

    /// Whoever pushes a commit decides how long its texts are.
    @Test(arguments: ["x", "é", "😀", "\u{301}"])
    func `long texts of a commit are cut`(_ unit: String) throws {
        let repository = try Repository(opening: try fixture.repository())
        let tree = try repository.commit(try fixture.id("HEAD")).tree
        for length in [1_020, 1_021, 1_022, 1_023, 1_024, 1_025, 100_000] {
            let long = String(repeating: unit, count: length / unit.utf8.count)
            let who = Signature(name: long, email: long, time: Date(timeIntervalSince1970: 1))
            let id = try repository.createCommit(
                tree: tree, parents: [], author: who, committer: who, message: "\(long)\n\nBody")
            let commit = try repository.commit(id)
            #expect(commit.summary == long || commit.summary.hasSuffix("…"))
            #expect(commit.summary.utf8.count <= 1_024 && commit.summary.utf8.count > 1_000)
            #expect(!commit.summary.unicodeScalars.contains("\u{FFFD}"))
            #expect((commit.summary == long) == (long.utf8.count <= 1_024))
            #expect(commit.message.utf8.count <= 65_536)
            #expect(commit.author.name.utf8.count <= 256 && commit.committer.email.utf8.count <= 256)
            // A rule over authors that looks at the end must not match what was cut off.
            #expect(commit.author.email.hasSuffix("…"))
        }
    }

    /// Whoever pushes a commit decides its date, which the daemon converts to whole seconds.
    @Test(arguments: [Int64.max, Int64.max - 1_024, 1 << 62])
    func `a date far away fits into a number of seconds`(_ seconds: Int64) throws {
        let path = try fixture.repository()
        let tree = try fixture.git("rev-parse", "HEAD^{tree}").trimmingCharacters(in: .whitespacesAndNewlines)
        let text = "tree \(tree)\nauthor a <a@a> \(seconds) +0000\ncommitter a <a@a> \(seconds) +0000\n\nx\n"
        try text.write(toFile: path + "/far", atomically: true, encoding: .utf8)
        let id = try fixture.git("hash-object", "-t", "commit", "-w", "--literally", path + "/far")
        let oid = try #require(OID(hex: id.trimmingCharacters(in: .whitespacesAndNewlines)))
        let commit = try Repository(opening: path).commit(oid)
        #expect(Int(exactly: commit.committer.time.timeIntervalSince1970) != nil)
        #expect(Int(exactly: commit.author.time.timeIntervalSince1970) != nil)
    }

    @Test func readsTreesWithEveryKindOfEntry() throws {
        let path = try fixture.repository()
        try fixture.repository("other")
        try fixture.git("submodule", "--quiet", "add", fixture["other"], "sub")
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "/etc/passwd")
        try "#!/bin/sh\n".write(toFile: path + "/run", atomically: true, encoding: .utf8)
        #expect(chmod(path + "/run", 0o755) == 0)
        let head = try fixture.commit(["dir/inner/file": "deep"], "Everything")
        let repository = try Repository(opening: path)
        let tree = try repository.commit(head).tree
        let entries = try repository.entries(ofTree: tree, recursive: true)
        let kinds = Dictionary(uniqueKeysWithValues: entries.map { ($0.path, $0.kind) })
        #expect(
            kinds == [
                "README.md": .blob, ".gitmodules": .blob, "sub": .submodule, "link": .symlink, "run": .executable,
                "dir": .tree, "dir/inner": .tree, "dir/inner/file": .blob,
            ])
        #expect(try repository.entries(ofTree: tree, recursive: false).count == 6)
        #expect(try repository.file("dir/inner/file", at: head) == Array("deep".utf8))
        #expect(try repository.file("link", at: head) == Array("/etc/passwd".utf8))
        #expect(try repository.file("dir", at: head) == nil)
        #expect(try repository.file("sub", at: head) == nil)
        #expect(try repository.file("dir/none", at: head) == nil)
        #expect(try repository.file("README.md/none", at: head) == nil)
        #expect(try repository.treeID(of: head, path: "dir/inner") == fixture.id("HEAD:dir/inner"))
        #expect(try repository.treeID(of: head, path: "") == tree)
        #expect(try repository.treeID(of: head, path: "workflows") == nil)

        try repository.checkout(head, into: fixture["out"])
        let out = fixture["out"]
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: out + "/link") == "/etc/passwd")
        #expect(FileManager.default.isExecutableFile(atPath: out + "/run"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out + "/sub") == [])
    }

    @Test func writesBlobsTreesAndCommits() throws {
        let repository = try Repository.create(bareAt: fixture["store"])
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let blob = try repository.createBlob(bytes)
        #expect(try repository.blob(blob) == bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: fixture["file"]))
        #expect(try repository.createBlob(fromFile: fixture["file"]) == blob)
        let empty = try repository.createBlob([])
        #expect(try repository.blob(empty) == [])
        let tree = try repository.createTree([
            "a": .blob(empty), "dir/b": .blob(blob, executable: true), "dir/c/d": .blob(empty),
        ])
        let entries = try repository.entries(ofTree: tree, recursive: true)
        #expect(entries.map(\.path) == ["a", "dir", "dir/b", "dir/c", "dir/c/d"])
        #expect(entries[2].kind == .executable)
        let first = try repository.createCommit(
            tree: tree, parents: [], author: ada, committer: ada, message: "One\n")
        let second = try repository.createCommit(
            tree: tree, parents: [first], author: ada, committer: ada, message: "Two\n")
        #expect(try repository.commit(second).parents == [first])
        #expect(try repository.commit(second).author == ada)
        #expect(try repository.snapshot().refs.isEmpty)
        try fixture.git(["fsck", "--strict"], in: fixture["store"])
    }

    @Test(arguments: ["", "/a", "a//b", "../x", "a/./b", ".git/config", "dir/.GIT/x", "f/under"])
    func refusesBadPaths(_ path: String) throws {
        let repository = try Repository.create(bareAt: fixture["store"])
        let blob = try repository.createBlob([1])
        #expect(code { try repository.createTree([path: .blob(blob), "f": .blob(blob)]) } == .invalidName)
    }

    @Test func refusesBadInput() throws {
        let repository = try Repository.create(bareAt: fixture["store"])
        let tree = try repository.createTree([:])
        let nobody = Signature(name: " ", email: "", time: .distantPast)
        let none = try #require(OID(hex: String(repeating: "1", count: 40)))
        #expect(
            code {
                try repository.createCommit(tree: tree, parents: [], author: nobody, committer: ada, message: "m")
            } != nil)
        #expect(
            code {
                try repository.createCommit(tree: none, parents: [], author: ada, committer: ada, message: "m")
            } != nil)
        #expect(code { try repository.createTree(["a": .blob(none)]) } != nil)
        try FileManager.default.createSymbolicLink(atPath: fixture["link"], withDestinationPath: "/etc/passwd")
        for path in ["link", "missing", "."] {
            #expect(code { try repository.createBlob(fromFile: fixture[path]) } == .failed)
        }
    }
}
