import Foundation
import GitFixture
import Testing

@testable import Git

/// The system's error behind a failure that libgit2 reports.
struct SystemErrorTests {
    /// `GIT_ERROR_OS`.
    private let system: Int32 = 2

    @Test(arguments: [ENOSPC, EDQUOT])
    func `a full disk is known by the class of the error and the system's text`(code: Int32) {
        let message = "failed to write out file 'x': " + String(cString: strerror(code))
        #expect(GitError.systemError(class: system, message: message) == code)
        #expect(GitError.systemError(class: 3, message: message) == nil, "another class quotes what a commit says")
        #expect(GitError.systemError(class: system, message: message + ", said a file's name") == nil)
        #expect(GitError.systemError(class: system, message: nil) == nil)
    }

    /// `/dev/full` takes no byte.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `files that are written here keep the system's number`() throws {
        let fixture = try Fixture()
        let path = try fixture.repository()
        let repository = try Repository(opening: path)
        let head = try fixture.id("HEAD")
        try repository.keep(head, as: "refs/pipectl/runs/1")
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/.git/refs/pipectl/runs/1.lock", withDestinationPath: "/dev/full")
        let error = #expect(throws: GitError.self) { try repository.keep(head, as: "refs/pipectl/runs/1") }
        #expect(error?.systemError == ENOSPC)
    }
}
