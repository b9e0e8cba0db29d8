import Foundation
import Results
import Store
import Testing

/// Releases in the store: one for a commit, one for a version.
struct VersionTests {
    private func index() async throws -> Store.Index {
        let index = try Store.Index.inMemory()
        for name in ["app", "other"] { try await index.connectForge(name, address: "a", location: "/\(name)") }
        return index
    }

    private func release(
        _ version: String, commit: String = "c1", repository: String = "app", workflow: String = "release"
    ) -> ReleaseRecord {
        ReleaseRecord(
            repository: repository, version: ReleaseVersion(version: version, buildNumber: 7, tag: "v\(version)"),
            commit: commit, tree: "t", committedAt: Date(timeIntervalSince1970: 5), workflow: workflow, run: 3,
            madeAt: Date(timeIntervalSince1970: 10), notes: "new",
            files: [.init(name: "a", bytes: 1, sha256: "00")])
    }

    @Test func `a version is made once, and a commit may have several`() async throws {
        let index = try await index()
        let first = try await index.addRelease(release("1.0-rc1"))
        #expect(first == release("1.0-rc1"))
        #expect(try await index.addRelease(release("1.0-rc1", commit: "c2")) == first)
        #expect(try await index.addRelease(release("1.0")) == release("1.0"))
        #expect(try await index.addRelease(release("1.0-rc1", repository: "other")) != nil)
        #expect(try await index.addRelease(release("1.0", repository: "unknown")) == nil)
        #expect(try await index.versions(of: "app", limit: 10).map(\.version) == ["1.0", "1.0-rc1"])
        #expect(try await index.versions(of: nil, limit: 10).map(\.repository) == ["other", "app", "app"])
        #expect(try await index.release("1.0-rc1", of: "app") == first)
        #expect(try await index.release("3.0", of: "app") == nil)
    }

    @Test func `notes change only while it is a draft, and a seal is for the notes that were signed`() async throws {
        let index = try await index()
        _ = try await index.addRelease(release("1.0"))
        #expect(try await index.setNotes("better", of: "1.0", in: "app"))
        #expect(try await !index.move("1.0", of: "app", from: [.draft], to: .sealed, notes: "new"))
        #expect(try await index.move("1.0", of: "app", from: [.draft], to: .sealed, notes: "better"))
        #expect(try await !index.setNotes("again", of: "1.0", in: "app"))
        #expect(try await !index.move("1.0", of: "app", from: [.draft], to: .published))
        #expect(try await index.move("1.0", of: "app", from: [.sealed], to: .yanked, reason: "bad"))
        let now = try await index.release("1.0", of: "app")
        #expect(now?.state == .yanked)
        #expect(now?.reason == "bad")
        #expect(now?.notes == "better")
    }

    @Test func `a publication keeps what its publisher noted`() async throws {
        let index = try await index()
        _ = try await index.addRelease(release("1.0"))
        let begun = PublicationRecord(
            step: "out", destination: "there", state: .begun, updatedAt: Date(timeIntervalSince1970: 1))
        try await index.record(begun, of: "1.0", in: "app")
        #expect(try await index.publishingNote("id", of: "out", version: "1.0", in: "app") == nil)
        try await index.setPublishingNote("id", to: "4'2", of: "out", version: "1.0", in: "app")
        try await index.setPublishingNote("b.c", to: "x", of: "out", version: "1.0", in: "app")
        var done = begun
        (done.state, done.address) = (.released, "https://example.com/1.0")
        try await index.record(done, of: "1.0", in: "app")
        #expect(try await index.publishingNote("id", of: "out", version: "1.0", in: "app") == "4'2")
        #expect(try await index.publishingNote("b.c", of: "out", version: "1.0", in: "app") == "x")
        try await index.setPublishingNote("id", to: nil, of: "out", version: "1.0", in: "app")
        #expect(try await index.publishingNote("id", of: "out", version: "1.0", in: "app") == nil)
        #expect(try await index.release("1.0", of: "app")?.publications == [done])
    }
}
