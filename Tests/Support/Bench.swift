import Reports
package import Results
import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A repository, a state folder and the built `pipectl` for one test. All are removed when it ends.
package struct Bench: Sendable {
    /// Short, because it contains the daemon's socket, whose path has a length limit.
    package let root: String
    /// Variables of every command, in addition to those that all benches set.
    package var variables: [String: String] = [:]
    /// Arguments before `pipectl watch`, such as a launcher that sets a limit: `prlimit --nofile=64`.
    package var launcher: [String] = []

    package var home: String { "\(root)/home" }
    package var repository: String { "\(root)/repo" }
    /// The only folder of the bench that steps can see and write to in their sandbox.
    package var meet: String { "\(root)/meet" }

    /// The end of a command: its exit code and its output.
    package struct Ended: Sendable {
        package var code: Int32
        package var output: String
        package var errors: String
    }

    /// Makes a bench whose repository has `files` on main, in one commit.
    ///
    /// - Parameter disk: Where the bench's folder is made.
    package static func with(
        _ files: [String: String] = Workflows.standard, on disk: String = "/tmp", _ body: (Bench) async throws -> Void
    ) async throws {
        let bench = Bench(root: "\(disk)/pipectl-e\(getpid())-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(
            atPath: bench.root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: bench.root) }
        try FileManager.default.createDirectory(atPath: bench.meet, withIntermediateDirectories: false)
        // Steps may run as another user.
        chmod(bench.meet, 0o777)
        try await bench.git(["init", "-q", "-b", "main", bench.repository], in: bench.root)
        try await bench.commit(files, "Begin")
        try await body(bench)
    }

    // MARK: The repository

    /// Writes files and commits them on the branch that is checked out.
    @discardableResult
    package func commit(_ files: [String: String], _ message: String) async throws -> String {
        try write(files)
        try await git(["add", "-A"])
        try await git(["commit", "-q", "--allow-empty", "-m", message])
        return try await git(["rev-parse", "HEAD"])
    }

    package func write(_ files: [String: String]) throws {
        for (path, text) in files {
            let url = URL(fileURLWithPath: "\(repository)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    /// Pushes a change: one commit on top of `base`, under the ref of a pull request. Main stays checked out.
    @discardableResult
    package func change(_ number: Int, _ files: [String: String], from base: String = "main") async throws -> String {
        try await git(["checkout", "-q", "--detach", base])
        let head = try await commit(files, "Change \(number)")
        try await git(["checkout", "-q", "main"])
        try await git(["update-ref", "refs/pull/\(number)/head", head])
        return head
    }

    @discardableResult
    package func git(_ arguments: [String], in folder: String? = nil) async throws -> String {
        let ended = try await command(["git"] + arguments, in: folder ?? repository)
        guard ended.code == 0 else { throw Failure(description: "git \(arguments): \(ended.errors)") }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: The tool

    /// The folder of the test bundle, where SwiftPM also puts `pipectl` and `stepinit`.
    package static var products: String {
        #if canImport(Darwin)
            let tests =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? CommandLine.arguments[0]
        #else
            let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        #endif
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path
    }

    package static var pipectl: String { "\(products)/pipectl" }

    /// Runs pipectl in the repository to its end.
    @discardableResult
    package func pipectl(_ arguments: String..., in folder: String? = nil) async throws -> Ended {
        try await command([Bench.pipectl] + arguments, in: folder ?? repository)
    }

    /// Observes the repository once.
    package func look(_ options: String...) async throws -> Ended {
        try await command(
            launcher + [Bench.pipectl, "watch", "--once", "--minimum-free", "0"] + options + [repository])
    }

    /// All runs, newest first.
    package func runs() async throws -> [RunSummary] {
        let ended = try await pipectl("runs", "--json", "--limit", "1000")
        guard ended.code == 0 else { throw Failure(description: "pipectl runs: \(ended.errors)") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode([RunSummary].self, from: Data(ended.output.utf8))
    }

    package func run(_ id: Int) async throws -> RunSummary {
        guard let run = try await runs().first(where: { $0.id == id }) else {
            throw Failure(description: "there is no run \(id)")
        }
        return run
    }

    /// The archived report of a run.
    package func report(_ id: RunID) async throws -> Report {
        let ended = try await pipectl("report", "\(id)", "--format", "json")
        guard ended.code == 0 else { throw Failure(description: "pipectl report \(id): \(ended.errors)") }
        return try ReportJSON.decoder().decode(Report.self, from: Data(ended.output.utf8))
    }

    /// Waits, for a minute at most, until a run has its verdict.
    @discardableResult
    package func ended(_ id: RunID) async throws -> RunSummary {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(60)
        while clock.now < limit {
            if let run = try await runs().first(where: { $0.id == id }), run.verdict != nil { return run }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Failure(description: "run \(id) has no verdict after a minute")
    }

    /// Runs a command to its end. One that takes longer than `limit` is killed, and its code fails the test.
    package func command(
        _ command: [String], in folder: String? = nil, within limit: Duration = .seconds(60)
    ) async throws -> Ended {
        let name = "\(root)/out-\(UInt64.random(in: 0 ... .max))"
        defer { for suffix in ["1", "2"] { try? FileManager.default.removeItem(atPath: name + suffix) } }
        let child = try Child(sharing(command), in: folder ?? root, environment: environment, output: name)
        async let _: Void = child.kill(after: limit)
        let code = await child.end
        func text(_ suffix: String) -> String {
            String(decoding: FileManager.default.contents(atPath: name + suffix) ?? Data(), as: UTF8.self)
        }
        return Ended(code: code, output: text("1"), errors: text("2"))
    }

    /// The command, with an option that shows the meeting folder to steps if the command runs any.
    package func sharing(_ command: [String]) -> [String] {
        guard command.count > 1, command[0] == Bench.pipectl,
            ["run", "rerun", "watch", "open", "fix"].contains(command[1])
        else {
            return command
        }
        return Array(command[..<2]) + ["--shared", meet] + command[2...]
    }

    package var environment: [String: String] {
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
        return environment.merging(variables) { $1 }
    }

    // MARK: Meeting points

    /// Waits until `archive.git` has a run: a daemon brings it there a moment after its end.
    package func archived(_ run: Int) async throws {
        let script = """
            for i in $(seq 300); do
                git -C "$0/archive.git" rev-parse --quiet --verify "refs/runs/$1" > /dev/null && exit; sleep 0.1
            done
            exit 1
            """
        let ended = try await command(["sh", "-c", script, home, "\(run)"])
        guard ended.code == 0 else { throw Failure(description: "run \(run) was not archived within 30 s") }
    }

    /// Makes a named pipe at which a step and the test wait for each other.
    package func meetingPoint(_ name: String) throws {
        guard mkfifo("\(meet)/\(name)", 0o666) == 0, chmod("\(meet)/\(name)", 0o666) == 0 else {
            throw Failure(description: "mkfifo \(name): \(errno)")
        }
    }

    /// Waits for a step that runs `echo TEXT > NAME`, and returns the text once the last writer has ended.
    @discardableResult
    package func arrival(at name: String) async throws -> String {
        let ended = try await command(["cat", "\(meet)/\(name)"])
        guard ended.code == 0 else { throw Failure(description: "nobody came to \(name)") }
        return ended.output
    }

    /// Lets a step continue that runs `cat NAME`.
    package func release(_ name: String) async throws {
        let ended = try await command(["sh", "-c", "echo go > \"$0\"", "\(meet)/\(name)"])
        guard ended.code == 0 else { throw Failure(description: "nobody waits at \(name)") }
    }

    // MARK: The daemon

    /// Runs `watch` in the background while `body` runs. A daemon that is still running then is killed.
    ///
    /// - Parameter prefix: Arguments before the command, such as `prlimit --nofile=64`, which replace themselves by it.
    package func withDaemon<T>(
        _ options: String..., under prefix: [String] = [], body: (Daemon) async throws -> T
    ) async throws -> T {
        let name = "\(root)/daemon-\(UInt32.random(in: 0 ... .max))-"
        let child = try Child(
            launcher + prefix + sharing([Bench.pipectl, "watch"])
                + (options.contains("--minimum-free") ? [] : ["--minimum-free", "0"])
                // Background runs would be among the runs that a test counts.
                + (options.contains("--refresh") ? [] : ["--no-refresh"])
                + options + (options.contains("--interval") ? [] : ["--interval", "3600"]) + [repository],
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
            throw Failure(description: "\(error)\nthe daemon said:\n\(daemon.text)")
        }
    }

    package struct Daemon: Sendable {
        package let child: Child
        package let log: String
        package let bench: Bench

        package init(child: Child, log: String, bench: Bench) {
            (self.child, self.log, self.bench) = (child, log, bench)
        }

        package var text: String {
            String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        }

        /// Waits until the daemon's log has a line with this text.
        package func line(_ part: String) async throws -> String {
            let ended = try await bench.command([
                "sh", "-c", "tail -n +1 -f \"$0\" --pid=\"$2\" | grep -m1 -F -e \"$1\"", log, part, "\(child.id)",
            ])
            guard ended.code == 0 else { throw Failure(description: "the daemon never said \"\(part)\":\n\(text)") }
            return ended.output
        }

        /// Asks the daemon to end, waits for that, and returns its exit code.
        package func stop() async -> Int32 {
            kill(child.id, SIGTERM)
            return await end()
        }

        /// Waits until the daemon ends for another reason, and returns its exit code.
        package func end() async -> Int32 {
            async let _: Void = child.kill(after: .seconds(60))
            let code = await child.end
            return code
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        package var description: String
        package init(description: String) { self.description = description }
    }
}
