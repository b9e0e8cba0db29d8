import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct OpeningTests {
    let fixture: Fixture
    init() throws { fixture = try Fixture() }

    @Test func opensWorkTreeGitFolderAndBare() throws {
        let path = try fixture.repository()
        try fixture.git(["clone", "-q", "--bare", path, fixture["bare"]], in: fixture.root)
        let work = try Repository(opening: path)
        #expect(!work.isBare)
        #expect(work.workDirectory?.hasSuffix("/work") == true)
        #expect(work.gitDirectory.hasSuffix("/work/.git"))
        #expect(try Repository(opening: path + "/.git").resolve("HEAD") == fixture.id("HEAD"))
        let bare = try Repository(opening: fixture["bare"])
        #expect(bare.isBare && bare.workDirectory == nil)
        #expect(!LibGit2.version.isEmpty && LibGit2.features.contains("threads"))
    }

    @Test func `a folder that is not a repository is refused`() throws {
        try "x".write(toFile: fixture["file"], atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: fixture["empty"], withIntermediateDirectories: true)
        for name in ["missing", "file", "empty"] {
            #expect(code { try Repository(opening: fixture[name]) } == .notFound)
        }
    }

    @Test func doesNotSearchParents() throws {
        let path = try fixture.repository()
        try FileManager.default.createDirectory(atPath: path + "/sub", withIntermediateDirectories: true)
        #expect(code { try Repository(opening: path + "/sub") } == .notFound)
    }

    @Test func refusesShallow() throws {
        let path = try fixture.repository()
        try fixture.commit(["a": "1"], "Second")
        try fixture.git(["clone", "-q", "--depth", "1", "file://\(path)", fixture["shallow"]], in: fixture.root)
        #expect(code { try Repository(opening: fixture["shallow"]) } == .unsupported)
    }

    @Test func refusesPartialClone() throws {
        let path = try fixture.repository()
        try fixture.git("config", "uploadpack.allowFilter", "true")
        try fixture.git(
            ["clone", "-q", "--no-checkout", "--filter=blob:none", "file://\(path)", fixture["partial"]],
            in: fixture.root)
        #expect(code { try Repository(opening: fixture["partial"]) } == .unsupported)
    }

    @Test func refusesSHA256() throws {
        try fixture.git(["init", "-q", "--object-format=sha256", fixture["sha256"]], in: fixture.root)
        let error = #expect(throws: GitError.self) { try Repository(opening: fixture["sha256"]) }
        #expect(error?.code == .unsupported)
        #expect(error?.description.contains("sha256") == true)
    }

    @Test(arguments: [("refStorage", "reftable"), ("relativeWorktrees", "true"), ("somethingNew", "1")])
    func refusesExtension(name: String, value: String) throws {
        let path = try fixture.repository()
        try fixture.git("config", "core.repositoryFormatVersion", "1")
        try fixture.git("config", "extensions.\(name)", value)
        let error = #expect(throws: GitError.self) { try Repository(opening: path) }
        #expect(error?.code == .unsupported)
    }

    @Test func allowsWorktreeConfig() throws {
        let path = try fixture.repository()
        try fixture.git("config", "core.repositoryFormatVersion", "1")
        try fixture.git("config", "extensions.worktreeConfig", "true")
        #expect(code { try Repository(opening: path) } == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func refusesForeignOwner() throws {
        let path = try fixture.repository()
        for name in ["", "/.git"] { #expect(chown(path + name, 12345, 12345) == 0) }
        #expect(code { try Repository(opening: path) } == .owner)
    }

    @Test func createsBareOnce() throws {
        let made = try Repository.create(bareAt: fixture["new/store.git"])
        #expect(made.isBare)
        #expect(try made.snapshot() == RefSnapshot(refs: [:], head: "refs/heads/main"))
        #expect(code { try Repository.create(bareAt: fixture["new/store.git"]) } == .exists)
        try "x".write(toFile: fixture["file"], atomically: true, encoding: .utf8)
        #expect(code { try Repository.create(bareAt: fixture["file"]) } == .exists)
    }

    @Test func checkoutHonoursAttributesAndRunsNoFilter() throws {
        let path = try fixture.repository()
        let head = try fixture.commit(
            [".gitattributes": "dos eol=crlf\nfiltered filter=bad\n", "dos": "a\nb\n", "filtered": "x\n"], "Files")
        try fixture.git("config", "filter.bad.smudge", "false")
        try fixture.git("config", "filter.bad.required", "true")
        try Repository(opening: path).checkout(head, into: fixture["out"])
        #expect(try String(contentsOfFile: fixture["out/dos"], encoding: .utf8) == "a\r\nb\r\n")
        #expect(try String(contentsOfFile: fixture["out/filtered"], encoding: .utf8) == "x\n")
        #expect(try String(contentsOfFile: fixture["out/README.md"], encoding: .utf8) == "hello\n")
    }

    @Test func opensAHandlePerCall() async throws {
        let path = try fixture.repository()
        let head = try fixture.id("HEAD")
        try await withThrowingTaskGroup(of: OID.self) { group in
            for _ in 0..<40 { group.addTask { try await withRepository(at: path) { try $0.resolve("HEAD") } } }
            for try await id in group { #expect(id == head) }
        }
        let missing = fixture["missing"]
        await #expect(throws: GitError.self) { try await withRepository(at: missing) { $0.isBare } }
    }

    @Test func cancelledCallDoesNotStart() async throws {
        let path = try fixture.repository()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await withRepository(at: path) { $0.isBare }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
