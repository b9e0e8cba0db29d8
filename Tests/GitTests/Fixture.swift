import Foundation
import Git
import Synchronization
import Testing

/// A temporary folder with the `git` command line in it, removed when the test ends.
final class Fixture: Sendable {
    let root: String

    init() throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("git-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// A path in the folder.
    subscript(_ name: String) -> String { "\(root)/\(name)" }

    /// Makes an empty bare repository, `store`, and opens it.
    func store() throws -> Repository {
        try git(["init", "-q", "--bare", "-b", "main", self["store"]], in: root)
        return try Repository(opening: self["store"])
    }

    /// Makes a work tree repository with one commit and returns its path.
    @discardableResult
    func repository(_ name: String = "work", options: [String] = []) throws -> String {
        try git(["init", "-q", "-b", "main"] + options + [self[name]], in: root)
        try commit(["README.md": "hello\n"], "Begin", in: name)
        return self[name]
    }

    /// Writes files and commits them; a `nil` content removes the file.
    @discardableResult
    func commit(_ files: [String: String?], _ message: String, in name: String = "work") throws -> OID {
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

    func id(_ revision: String, in name: String = "work") throws -> OID {
        try #require(OID(hex: try git(["rev-parse", "--verify", revision], in: self[name])))
    }

    /// Runs git in the work tree `work`.
    @discardableResult
    func git(_ arguments: String...) throws -> String { try git(arguments, in: self["work"]) }

    @discardableResult
    func git(_ arguments: [String], in folder: String, input: String? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-c", "protocol.file.allow=always"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": root,
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
            "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
            "GIT_AUTHOR_DATE": Self.date(), "GIT_COMMITTER_DATE": Self.date(),
        ]
        // Files, not pipes: nothing has to be read while git runs.
        let (out, error) = (self["out-\(UUID().uuidString)"], self["err-\(UUID().uuidString)"])
        for path in [out, error] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        defer { for path in [out, error] { try? FileManager.default.removeItem(atPath: path) } }
        process.standardOutput = FileHandle(forWritingAtPath: out)
        process.standardError = FileHandle(forWritingAtPath: error)
        if let input {
            let path = self["in-\(UUID().uuidString)"]
            try input.write(toFile: path, atomically: true, encoding: .utf8)
            process.standardInput = FileHandle(forReadingAtPath: path)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "git \(arguments): " + ((try? String(contentsOfFile: error, encoding: .utf8)) ?? ""))
        }
        return try String(contentsOfFile: out, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    struct Failure: Error, CustomStringConvertible { var description: String }

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

let ada = Signature(
    name: "Ada", email: "ada@example.com", time: Date(timeIntervalSince1970: 1_700_000_000), offsetMinutes: 120)

/// The code of the ``GitError`` that `body` throws; nil if it throws none.
func code<T>(_ body: () throws -> T) -> GitError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? GitError)?.code
    }
}
