import Foundation

/// A Git repository of a test, which the command `git` makes and writes. Nothing of the machine's or a user's
/// configuration changes what it does.
package struct TestRepository: Sendable {
    package let path: String
    private let runner: CommandRunner

    /// - Parameter environment: Variables of every `git`, in addition to the isolated ones.
    package init(at path: String, environment: [String: String] = [:]) {
        self.path = path
        runner = CommandRunner(in: path, environment: Self.environment.merging(environment) { $1 })
    }

    /// Makes a repository whose branch is `main`.
    package static func make(at path: String, isBare: Bool = false) async throws -> TestRepository {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let repository = TestRepository(at: path)
        try await repository.git(["init", "-q", "-b", "main"] + (isBare ? ["--bare"] : []) + ["."])
        return repository
    }

    /// The environment of `git` in tests: no configuration but the repository's, and a fixed author.
    package static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in environment.keys where name.hasPrefix("GIT_") { environment[name] = nil }
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        // Not the null device: git replaces the file when it writes to it.
        environment["GIT_CONFIG_GLOBAL"] = "/nonexistent/gitconfig"
        for who in ["AUTHOR", "COMMITTER"] {
            environment["GIT_\(who)_NAME"] = "Ada"
            environment["GIT_\(who)_EMAIL"] = "ada@example.com"
        }
        return environment
    }

    /// - Throws: ``CommandFailure``.
    @discardableResult
    package func git(_ arguments: [String], input: String? = nil) async throws -> String {
        let ended = try await runner.end(of: ["git"] + arguments, input: input)
        guard ended.code == 0 else { throw CommandFailure(command: ["git"] + arguments, ended: ended) }
        return ended.text
    }

    @discardableResult
    package func git(_ arguments: String...) async throws -> String { try await git(arguments) }

    /// Writes files, with the folders above them.
    package func write(_ files: [String: String]) throws {
        for (name, text) in files {
            let url = URL(fileURLWithPath: "\(path)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    /// Writes files and commits them on the branch that is checked out; returns the commit's id.
    @discardableResult
    package func commit(_ files: [String: String], _ message: String) async throws -> String {
        try write(files)
        try await git("add", "-A")
        try await git("commit", "-q", "--allow-empty", "-m", message)
        return try await git("rev-parse", "HEAD")
    }

    /// Imports a stream of fast-import(1).
    package func importing(_ stream: String) async throws {
        try await git(["fast-import", "--quiet", "--force"], input: stream)
    }
}
