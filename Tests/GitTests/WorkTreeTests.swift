import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct WorkTreeTests {
    let fixture: Fixture
    let repository: Repository
    init() throws {
        fixture = try Fixture()
        repository = try Repository(opening: fixture.repository())
    }

    private func write(_ text: String, _ path: String) throws {
        try text.write(toFile: fixture["work/" + path], atomically: true, encoding: .utf8)
    }

    @Test func `a snapshot has all files and changes nothing`() throws {
        let head = try fixture.commit(["gone": "1", "staged": "1", ".gitignore": "ignored\n"], "Base")
        #expect(try repository.isClean())
        try write("changed\n", "README.md")
        try write("2", "staged")
        try fixture.git("add", "staged")
        try write("3", "staged")
        try write("new", "untracked")
        try write("secret", "ignored")
        try FileManager.default.removeItem(atPath: fixture["work/gone"])
        let before = try (fixture.git("status", "--porcelain"), repository.snapshot())
        let index = try Data(contentsOf: URL(fileURLWithPath: fixture["work/.git/index"]))
        let objects = try fixture.git("count-objects")
        let store = try Repository.create(bareAt: fixture["store.git"], borrowing: fixture["work"])
        let id = try store.commit(repository.snapshotWorkingTree(author: ada, into: store))
        #expect(id.parents == [head])
        #expect(
            try store.entries(ofTree: id.tree, recursive: true).map(\.path) == [
                ".gitignore", "README.md", "staged", "untracked",
            ])
        #expect(try store.file("staged", at: id.id) == Array("3".utf8))
        #expect(try store.file("README.md", at: id.id) == Array("changed\n".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture["work/.git/index"])) == index)
        #expect(try fixture.git("count-objects") == objects)
        #expect(try before == (fixture.git("status", "--porcelain"), repository.snapshot()))
        #expect(try !repository.isClean())
        #expect(try repository.contains(repository.snapshotWorkingTree(author: ada)))
    }

    @Test(arguments: [false, true]) func `a repository in a folder is not part of a snapshot`(hasCommit: Bool) throws {
        let submodule = try Fixture()
        try submodule.git(["init", "-q", submodule["sub"]], in: submodule.root)
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        try submodule.git(author + ["commit", "-q", "--allow-empty", "-m", "x"], in: submodule["sub"])
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", submodule["sub"], "sub"]
        try fixture.git(add, in: fixture["work"])
        try fixture.git(["init", "-q", fixture["work/deep/clone"]], in: fixture.root)
        try write("theirs", "deep/clone/file")
        if hasCommit {
            try fixture.git(["add", "."], in: fixture["work/deep/clone"])
            try fixture.git(author + ["commit", "-q", "-m", "x"], in: fixture["work/deep/clone"])
        }
        try write("ours", "deep/file")
        let id = try repository.commit(repository.snapshotWorkingTree(author: ada))
        let paths = try repository.entries(ofTree: id.tree, recursive: true).map(\.path)
        #expect(paths == [".gitmodules", "README.md", "deep", "deep/file", "sub"])
    }

    @Test func unbornAndBare() throws {
        try fixture.git(["init", "-q", fixture["new"]], in: fixture.root)
        try "x".write(toFile: fixture["new/file"], atomically: true, encoding: .utf8)
        let new = try Repository(opening: fixture["new"])
        #expect(try new.commit(new.snapshotWorkingTree(author: ada)).parents == [])
        let bare = try Repository.create(bareAt: fixture["bare"])
        #expect(code { try bare.snapshotWorkingTree(author: ada) } == .bareRepository)
        #expect(code { try bare.isClean() } == .bareRepository)
    }
}
