import Archive
import Foundation
import Synchronization
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A repository, a state folder and the built `pipectl`, for one test; all gone when it ends.
struct Bench: Sendable {
    /// Short, because the daemon's socket is in it.
    let root: String

    var home: String { "\(root)/home" }
    var repository: String { "\(root)/repo" }
    /// The one folder of the bench that steps see in their sandbox, and may write to.
    var meet: String { "\(root)/meet" }

    /// How a command ended, and what it printed.
    struct Ended: Sendable {
        var code: Int32
        var output: String
        var errors: String
    }

    /// Makes a bench whose repository has `files` on main, in one commit.
    static func with(
        _ files: [String: String] = Workflows.standard, _ body: (Bench) async throws -> Void
    ) async throws {
        let bench = Bench(root: "/tmp/pipectl-e\(getpid())-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(
            atPath: bench.root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: bench.root) }
        try FileManager.default.createDirectory(atPath: bench.meet, withIntermediateDirectories: false)
        // Whoever steps become.
        chmod(bench.meet, 0o777)
        try await bench.git(["init", "-q", "-b", "main", bench.repository], in: bench.root)
        try await bench.commit(files, "Begin")
        try await body(bench)
    }

    // MARK: The repository

    /// Writes files and commits them on the branch that is checked out.
    @discardableResult
    func commit(_ files: [String: String], _ message: String) async throws -> String {
        try write(files)
        try await git(["add", "-A"])
        try await git(["commit", "-q", "--allow-empty", "-m", message])
        return try await git(["rev-parse", "HEAD"])
    }

    func write(_ files: [String: String]) throws {
        for (path, text) in files {
            let url = URL(fileURLWithPath: "\(repository)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    /// Pushes a change: one commit on top of `base`, under the ref of a pull request. Main stays checked out.
    @discardableResult
    func change(_ number: Int, _ files: [String: String], from base: String = "main") async throws -> String {
        try await git(["checkout", "-q", "--detach", base])
        let head = try await commit(files, "Change \(number)")
        try await git(["checkout", "-q", "main"])
        try await git(["update-ref", "refs/pull/\(number)/head", head])
        return head
    }

    @discardableResult
    func git(_ arguments: [String], in folder: String? = nil) async throws -> String {
        let ended = try await command(["git"] + arguments, in: folder ?? repository)
        guard ended.code == 0 else { throw Failure(description: "git \(arguments): \(ended.errors)") }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: The tool

    /// The folder of the test bundle, where SwiftPM also puts `pipectl` and `stepinit`.
    static var products: String {
        #if canImport(Darwin)
            let tests =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? CommandLine.arguments[0]
        #else
            let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        #endif
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path
    }

    static var pipectl: String { "\(products)/pipectl" }

    /// Runs pipectl in the repository to its end.
    @discardableResult
    func pipectl(_ arguments: String..., in folder: String? = nil) async throws -> Ended {
        try await command([Bench.pipectl] + arguments, in: folder ?? repository)
    }

    /// One look at the repository.
    func look(_ options: String...) async throws -> Ended {
        try await command([Bench.pipectl, "watch", "--once", "--minimum-free", "0"] + options + [repository])
    }

    /// All runs, newest first.
    func runs() async throws -> [RunSummary] {
        let ended = try await pipectl("runs", "--json", "--limit", "100")
        #expect(ended.code == 0, "\(ended.errors)")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode([RunSummary].self, from: Data(ended.output.utf8))
    }

    func run(_ id: Int) async throws -> RunSummary { try #require(await runs().first { $0.id == id }) }

    /// Runs a command to its end; one that takes longer than a minute is killed and fails its test by its code.
    func command(_ command: [String], in folder: String? = nil) async throws -> Ended {
        let name = "\(root)/out-\(UInt64.random(in: 0 ... .max))"
        defer { for suffix in ["1", "2"] { try? FileManager.default.removeItem(atPath: name + suffix) } }
        let child = try Child(sharing(command), in: folder ?? root, environment: environment, output: name)
        async let _: Void = child.kill(after: .seconds(60))
        let code = await child.end
        func text(_ suffix: String) -> String {
            String(decoding: FileManager.default.contents(atPath: name + suffix) ?? Data(), as: UTF8.self)
        }
        return Ended(code: code, output: text("1"), errors: text("2"))
    }

    /// The command, with the meeting folder shown to steps if it runs any.
    private func sharing(_ command: [String]) -> [String] {
        guard command.count > 1, command[0] == Bench.pipectl, ["run", "rerun", "watch"].contains(command[1]) else {
            return command
        }
        return Array(command[..<2]) + ["--shared", meet] + command[2...]
    }

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in environment.keys where name.hasPrefix("GIT_") || name.hasPrefix("PIPECTL") {
            environment[name] = nil
        }
        environment["PIPECTL_HOME"] = home
        // Not the null device: git replaces the file when it writes to it.
        environment["GIT_CONFIG_GLOBAL"] = "\(root)/gitconfig"
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        for who in ["AUTHOR", "COMMITTER"] {
            environment["GIT_\(who)_NAME"] = "Ada"
            environment["GIT_\(who)_EMAIL"] = "ada@example.com"
        }
        return environment
    }

    // MARK: Meeting points

    /// Makes a named pipe, where a step and the test wait for each other.
    func meetingPoint(_ name: String) throws {
        guard mkfifo("\(meet)/\(name)", 0o666) == 0, chmod("\(meet)/\(name)", 0o666) == 0 else {
            throw Failure(description: "mkfifo \(name): \(errno)")
        }
    }

    /// Waits for a step that does `echo TEXT > NAME`, and returns what it said; waits for the last writer's end.
    @discardableResult
    func arrival(at name: String) async throws -> String {
        let ended = try await command(["cat", "\(meet)/\(name)"])
        guard ended.code == 0 else { throw Failure(description: "nobody came to \(name)") }
        return ended.output
    }

    /// Lets a step go on that does `cat NAME`.
    func release(_ name: String) async throws {
        let ended = try await command(["sh", "-c", "echo go > \"$0\"", "\(meet)/\(name)"])
        guard ended.code == 0 else { throw Failure(description: "nobody waits at \(name)") }
    }

    // MARK: The daemon

    /// Runs `watch` in the background while `body` runs; a daemon that is left is killed.
    ///
    /// - Parameter prefix: Words before the command that become it, as `prlimit --nofile=64`.
    func withDaemon<T>(
        _ options: String..., under prefix: [String] = [], body: (Daemon) async throws -> T
    ) async throws -> T {
        let name = "\(root)/daemon-\(UInt32.random(in: 0 ... .max))-"
        let child = try Child(
            prefix + sharing([Bench.pipectl, "watch"])
                + (options.contains("--minimum-free") ? [] : ["--minimum-free", "0"])
                + options
                + ["--interval", "3600", repository],
            in: root, environment: environment, output: name)
        let daemon = Daemon(child: child, log: name + "2", bench: self)
        do {
            _ = try await daemon.line("is watching")
            let result = try await body(daemon)
            child.kill()
            _ = await child.end
            return result
        } catch {
            child.kill()
            _ = await child.end
            Issue.record("the daemon said:\n\(daemon.text)")
            throw error
        }
    }

    struct Daemon: Sendable {
        let child: Child
        let log: String
        let bench: Bench

        var text: String { String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self) }

        /// Waits until the daemon's log has a line with this text.
        func line(_ part: String) async throws -> String {
            let ended = try await bench.command([
                "sh", "-c", "tail -n +1 -f \"$0\" --pid=\"$2\" | grep -m1 -F -e \"$1\"", log, part, "\(child.id)",
            ])
            guard ended.code == 0 else { throw Failure(description: "the daemon never said \"\(part)\":\n\(text)") }
            return ended.output
        }

        /// Asks it to end, and waits for that; returns its exit code.
        func stop() async -> Int32 {
            kill(child.id, SIGTERM)
            return await end()
        }

        /// Waits for its end, which something else has brought about; returns its exit code.
        func end() async -> Int32 {
            async let _: Void = child.kill(after: .seconds(60))
            let code = await child.end
            return code
        }
    }

    struct Failure: Error, CustomStringConvertible { var description: String }
}

/// A process of the test's own.
final class Child: Sendable {
    let id: Int32
    private let stream: AsyncStream<Int32>
    private let ending: Ending

    /// The exit code, and the number of the signal beyond 128.
    var end: Int32 { get async { await ending.code(stream) } }

    /// - Parameter output: What it prints goes to this path with `1` and `2` after it.
    init(_ command: [String], in folder: String, environment: [String: String], output: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        for suffix in ["1", "2"] { _ = FileManager.default.createFile(atPath: output + suffix, contents: nil) }
        process.standardOutput = FileHandle(forWritingAtPath: output + "1")
        process.standardError = FileHandle(forWritingAtPath: output + "2")
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { ended in
            continuation.yield(ended.terminationStatus + (ended.terminationReason == .uncaughtSignal ? 128 : 0))
            continuation.finish()
        }
        try process.run()
        id = process.processIdentifier
        self.stream = stream
        ending = Ending()
    }

    /// Ends it without asking; nothing when it has ended.
    func kill() {
        guard ending.isRunning else { return }
        #if canImport(Darwin)
            Darwin.kill(id, SIGKILL)
        #else
            Glibc.kill(id, SIGKILL)
        #endif
    }

    func kill(after limit: Duration) async {
        do { try await Task.sleep(for: limit) } catch { return }
        kill()
    }
}

/// The end of a process, kept for all who ask.
private final class Ending: Sendable {
    private let known = Mutex<Int32?>(nil)

    var isRunning: Bool { known.withLock { $0 == nil } }

    func code(_ stream: AsyncStream<Int32>) async -> Int32 {
        for await code in stream { known.withLock { $0 = code } }
        return known.withLock { $0 } ?? -1
    }
}
