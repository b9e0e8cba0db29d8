import Foundation
import GitFixture
import Git
import Testing

@Suite(.timeLimit(.minutes(2))) struct NoteTests {
    let fixture: Fixture
    init() throws { fixture = try Fixture() }

    @Test func `a note is written, replaced and read`() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        let ref = "refs/notes/pipectl"
        #expect(try repository.note(for: head, ref: ref) == nil)
        try repository.setNote("first\n", for: head, ref: ref, author: ada)
        try repository.setNote("second\n", for: head, ref: ref, author: ada)
        #expect(try repository.note(for: head, ref: ref) == "second\n")
        #expect(try fixture.git("notes", "--ref=pipectl", "show", "HEAD") == "second")
    }

    @Test func `four concurrent writers lose no note`() async throws {
        let path = try fixture.repository()
        // Any object can carry a note: blobs are cheap to make 200 of.
        let repository = try Repository(opening: path)
        let ids = try (0..<200).map { try repository.createBlob(Array("object \($0)".utf8)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    try await withRepository(at: path) { repository in
                        for id in ids[(writer * 50)..<(writer * 50 + 50)] {
                            try repository.setNote("by \(writer)", for: id, ref: "refs/notes/x", author: ada)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for (number, id) in ids.enumerated() {
            #expect(try repository.note(for: id, ref: "refs/notes/x")?.contains("by \(number / 50)") == true)
        }
        #expect(try fixture.git("rev-list", "--count", "refs/notes/x") == "200")
    }

    @Test func `a stale lock ends the repetition`() throws {
        let repository = try Repository(opening: try fixture.repository())
        let head = try fixture.id("HEAD")
        try repository.setNote("x", for: head, ref: "refs/notes/x", author: ada)
        try Data().write(to: URL(fileURLWithPath: fixture["work/.git/refs/notes/x.lock"]))
        #expect(code { try repository.setNote("y", for: head, ref: "refs/notes/x", author: ada) } == .locked)
    }
}
