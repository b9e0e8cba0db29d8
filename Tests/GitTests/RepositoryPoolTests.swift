import Foundation
import GitFixture
import Git
import Testing

/// A repository that is lent again was opened before, but must show the present state.
@Suite(.timeLimit(.minutes(2))) struct RepositoryPoolTests {
    let fixture: Fixture
    init() throws { fixture = try Fixture() }

    /// Opens it, so that its files are known and it is kept open.
    private func warm(_ path: String) throws {
        for _ in 0..<3 { _ = try lendRepository(at: path) { try $0.resolve("HEAD") } }
    }

    @Test func `an open repository sees later commits and refs`() throws {
        let path = try fixture.repository()
        try warm(path)
        for number in 1...3 {
            let made = try fixture.commit(["a": "\(number)"], "Commit \(number)")
            try fixture.git("tag", "t\(number)")
            let (head, tag, text) = try lendRepository(at: path) {
                (try $0.resolve("HEAD"), try $0.snapshot().refs["refs/tags/t\(number)"], try $0.commit(made).message)
            }
            #expect(head == made && tag == made)
            #expect(text.hasPrefix("Commit \(number)"))
        }
    }

    @Test func `repacked objects can be read`() throws {
        let path = try fixture.repository()
        var made: [OID] = []
        for number in 1...5 { made.append(try fixture.commit(["a": "\(number)"], "Commit \(number)")) }
        try fixture.git("repack", "-q", "-d")
        try warm(path)
        for number in 6...8 { made.append(try fixture.commit(["a": "\(number)"], "Commit \(number)")) }
        try fixture.git("repack", "-q", "-a", "-d")
        try fixture.git("pack-refs", "--all")
        let messages = try lendRepository(at: path) { repository in
            try made.map { try repository.commit($0).message.trimmingCharacters(in: .newlines) }
        }
        #expect(messages == (1...8).map { "Commit \($0)" })
        #expect(try lendRepository(at: path) { try $0.resolve("HEAD") } == made.last)
    }

    @Test func `another repository at the same path is noticed`() throws {
        let path = try fixture.repository()
        try warm(path)
        try fixture.repository("other")
        let wanted = try fixture.commit(["b": "2"], "Another", in: "other")
        try FileManager.default.removeItem(atPath: path)
        #expect(code { try lendRepository(at: path) { try $0.resolve("HEAD") } } == .notFound)
        try FileManager.default.moveItem(atPath: fixture["other"], toPath: path)
        #expect(try lendRepository(at: path) { try $0.resolve("HEAD") } == wanted)
    }

    @Test func `a repository that must be refused is noticed`() throws {
        let path = try fixture.repository()
        try warm(path)
        let head = try fixture.id("HEAD")
        try "\(head.hex)\n".write(toFile: "\(path)/.git/shallow", atomically: true, encoding: .utf8)
        #expect(code { try lendRepository(at: path) { _ in } } == .unsupported)
        try FileManager.default.removeItem(atPath: "\(path)/.git/shallow")
        try warm(path)
        try fixture.git("config", "extensions.somethingNew", "1")
        try fixture.git("config", "core.repositoryformatversion", "1")
        #expect(code { try lendRepository(at: path) { _ in } } == .unsupported)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func `another owner is noticed`() throws {
        let path = try fixture.repository()
        try warm(path)
        for name in ["", "/.git"] { #expect(chown(path + name, 12345, 12345) == 0) }
        #expect(code { try lendRepository(at: path) { _ in } } == .owner)
    }

    @Test func `another alternate object store is noticed`() throws {
        let first = try fixture.repository("first")
        try fixture.repository("second")
        let made = try fixture.commit(["c": "3"], "Of the second", in: "second")
        let borrower = fixture["borrower"]
        _ = try Repository.create(bareAt: borrower, borrowing: first)
        for _ in 0..<3 { #expect(try !lendRepository(at: borrower) { $0.contains(made) }) }
        _ = try Repository.create(bareAt: borrower, borrowing: fixture["second"])
        #expect(try lendRepository(at: borrower) { $0.contains(made) })
    }

    @Test func `each of many callers gets a repository of its own`() async throws {
        let path = try fixture.repository()
        let head = try fixture.id("HEAD")
        try warm(path)
        try await withThrowingTaskGroup(of: OID?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await withRepository(at: path) { outer in
                        let inner = try lendRepository(at: path) { inner in
                            // Two handles, or two threads would use one.
                            #expect(inner !== outer)
                            return try inner.resolve("HEAD")
                        }
                        return try outer.resolve("HEAD") == inner ? inner : nil
                    }
                }
            }
            for try await found in group { #expect(found == head) }
        }
        closeIdleRepositories()
        #expect(try lendRepository(at: path) { try $0.resolve("HEAD") } == head)
    }
}
