import Foundation
import GitFixture
import Testing

@testable import Git

/// Refs that protect a commit as long as a process needs it.
struct KeepingTests {
    @Test func `a kept ref is a ref for Git until it is removed`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let head = try fixture.id("HEAD")
        let repository = try Repository(opening: path)
        try repository.keep(head, as: "refs/pipectl/runs/7")
        try repository.keep(head, as: "refs/pipectl/runs/7")
        #expect(try fixture.id("refs/pipectl/runs/7") == head)
        #expect(try repository.ref("refs/pipectl/runs/7") == head)
        try repository.letGo(of: "refs/pipectl/runs/7")
        try repository.letGo(of: "refs/pipectl/runs/7")
        #expect(try repository.ref("refs/pipectl/runs/7") == nil)
    }

    @Test func `the remains of a power cut are no broken refs`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let repository = try Repository(opening: path)
        try repository.keep(fixture.id("HEAD"), as: "refs/pipectl/runs/1")
        let folder = URL(fileURLWithPath: "\(path)/.git/refs/pipectl/runs")
        try Data().write(to: folder.appending(path: "2"))
        try Data("12".utf8).write(to: folder.appending(path: "3.lock"))
        repository.forgetTorn(under: "refs/pipectl/runs")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["1"])
        try fixture.git("fsck", "--strict")
    }

    /// A full disk makes the file but does not take its bytes; `/dev/full` behaves in the same way.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a partial id never becomes the ref`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let repository = try Repository(opening: path)
        let head = try fixture.id("HEAD")
        try repository.keep(head, as: "refs/pipectl/runs/1")
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/.git/refs/pipectl/runs/1.lock", withDestinationPath: "/dev/full")
        #expect(throws: GitError.self) { try repository.keep(head, as: "refs/pipectl/runs/1") }
        #expect(try fixture.id("refs/pipectl/runs/1") == head)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/.git/refs/pipectl/runs") == ["1"])
    }

    @Test func `a ref that can't be written is named`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let repository = try Repository(opening: path)
        let head = try fixture.id("HEAD")
        try Data().write(to: URL(fileURLWithPath: "\(path)/.git/refs/pipectl"))
        #expect(throws: GitError.self) { try repository.keep(head, as: "refs/pipectl/runs/1") }
        #expect(throws: GitError.self) { try repository.keep(head, as: "refs/a\0b") }
    }
}
