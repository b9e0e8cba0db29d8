import TestBasics
import Foundation
package import Git
import Synchronization
import Testing

/// A temporary folder with the `git` command line in it, removed when the test ends.
package final class Fixture: Sendable {
    private let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder(.disk) }

    package var root: String { folder.path }

    /// A path in the folder.
    package subscript(_ name: String) -> String { folder[name] }

    /// Makes an empty bare repository, `store`, and opens it.
    package func store() throws -> Repository {
        try git(["init", "-q", "--bare", "-b", "main", self["store"]], in: root)
        return try Repository(opening: self["store"])
    }

    /// Makes a work tree repository with one commit and returns its path.
    @discardableResult
    package func repository(_ name: String = "work", options: [String] = []) throws -> String {
        try git(["init", "-q", "-b", "main"] + options + [self[name]], in: root)
        try commit(["README.md": "hello\n"], "Begin", in: name)
        return self[name]
    }

    /// Writes files and commits them; a `nil` content removes the file.
    @discardableResult
    package func commit(_ files: [String: String?], _ message: String, in name: String = "work") throws -> OID {
        for (path, text) in files {
            let url = URL(fileURLWithPath: self[name]).appendingPathComponent(path)
            guard let text else {
                try FileManager.default.removeItem(at: url)
                continue
            }
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        try git(["add", "-A"], in: self[name])
        try git(["commit", "-q", "--allow-empty", "-m", message], in: self[name])
        return try id("HEAD", in: name)
    }

    /// A tree in `store` of folders that contain the previous folder `width` times, in `levels` levels. The last one has
    /// `width` to the power of `levels` paths.
    package func treeBomb(_ width: Int, _ levels: Int) throws -> OID {
        var (id, kind) = (try Repository(opening: self["store"]).createBlob(Array("boom\n".utf8)).hex, "100644 blob")
        for _ in 0..<levels {
            let lines = (0..<width).map { "\(kind) \(id)\t\($0)" }.joined(separator: "\n")
            (id, kind) = (try git(["mktree"], in: self["store"], input: lines + "\n"), "040000 tree")
        }
        return try #require(OID(hex: id))
    }

    package func id(_ revision: String, in name: String = "work") throws -> OID {
        try #require(OID(hex: try git(["rev-parse", "--verify", revision], in: self[name])))
    }

    /// Runs git in the work tree `work`.
    @discardableResult
    package func git(_ arguments: String...) throws -> String { try git(arguments, in: self["work"]) }

    @discardableResult
    package func git(_ arguments: [String], in folder: String, input: String? = nil) throws -> String {
        var environment = TestRepository.environment
        (environment["HOME"], environment["GIT_CONFIG_GLOBAL"]) = (root, nil)
        for who in ["AUTHOR", "COMMITTER"] { environment["GIT_\(who)_DATE"] = Self.date() }
        let command = ["git", "-c", "protocol.file.allow=always"] + arguments
        let ended = try CommandRunner(in: folder, environment: environment).waitForEnd(of: command, input: input)
        guard ended.code == 0 else { throw CommandFailure(command: command, ended: ended) }
        return ended.text
    }

    /// A second later each time, so that no two commits have the same time and a rewritten one differs.
    private static func date() -> String {
        "\(1_700_000_000 + clock.next()) +0200"
    }
    private static let clock = Clock()
}

private final class Clock: Sendable {
    private let seconds = Mutex(0)
    func next() -> Int {
        seconds.withLock { seconds in
            seconds += 1
            return seconds
        }
    }
}

package let ada = Signature(
    name: "Ada", email: "ada@example.com", time: Date(timeIntervalSince1970: 1_700_000_000), offsetMinutes: 120)

/// The code of the ``GitError`` that `body` throws; nil if it throws none.
package func code<T>(_ body: () throws -> T) -> GitError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? GitError)?.code
    }
}
