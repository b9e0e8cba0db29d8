import DaemonLog
import Foundation
import Reports
package import Results
package import TestBasics

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
        _ = try await TestRepository.make(at: bench.repository)
        try await bench.commit(files, "Begin")
        try await body(bench)
    }

    // MARK: The repository

    private var work: TestRepository { TestRepository(at: repository, environment: environment) }

    /// Writes files and commits them on the branch that is checked out.
    @discardableResult
    package func commit(_ files: [String: String], _ message: String) async throws -> String {
        try await work.commit(files, message)
    }

    package func write(_ files: [String: String]) throws { try work.write(files) }

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
        try await TestRepository(at: folder ?? repository, environment: environment).git(arguments)
    }

    // MARK: The tool

    package static var pipectl: String { Products.path("pipectl") }

    /// Runs pipectl in the repository to its end.
    @discardableResult
    package func pipectl(_ arguments: String..., in folder: String? = nil) async throws -> Ended {
        try await command([Bench.pipectl] + arguments, in: folder ?? repository)
    }

    /// Observes the repository once. No proved step runs by chance.
    package func look(_ options: String...) async throws -> Ended {
        let sampling = options.contains("--proof-sampling") ? [] : ["--proof-sampling", "0"]
        return try await command(
            launcher + [Bench.pipectl, "watch", "--once", "--minimum-free", "0"] + sampling + options + [repository])
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

    /// Waits, for five minutes at most, until a run has its verdict.
    @discardableResult
    package func ended(_ id: RunID) async throws -> RunSummary {
        var ended: RunSummary?
        try await eventually("the verdict of run \(id)", within: .seconds(300)) {
            ended = try await runs().first { $0.id == id && $0.verdict != nil }
            return ended != nil
        }
        guard let ended else { throw Failure(description: "run \(id) has no verdict") }
        return ended
    }

    /// Runs a command to its end. One that takes longer than `limit` is killed, and its code fails the test.
    package func command(
        _ command: [String], in folder: String? = nil, within limit: Duration = .seconds(300)
    ) async throws -> Ended {
        var runner = CommandRunner(in: folder ?? root, environment: environment)
        runner.limit = limit
        return try await runner.end(of: sharing(command))
    }

    /// The command, with options that show the meeting folder to steps if the command runs any, and let runs start
    /// however little space the bench's disk has.
    package func sharing(_ command: [String]) -> [String] {
        guard command.count > 1, command[0] == Bench.pipectl,
            ["run", "rerun", "watch", "open", "fix"].contains(command[1])
        else {
            return command
        }
        let space = command[1] == "watch" || command.contains("--minimum-free") ? [] : ["--minimum-free", "0"]
        return Array(command[..<2]) + ["--shared", meet] + space + command[2...]
    }

    package var environment: [String: String] {
        var environment = TestRepository.environment
        for name in environment.keys where name.hasPrefix("PIPECTL") { environment[name] = nil }
        environment["PIPECTL_HOME"] = home
        environment["GIT_CONFIG_GLOBAL"] = "\(root)/gitconfig"
        return environment.merging(variables) { $1 }
    }

    // MARK: Meeting points

    /// Waits until `archive.git` has a run: a daemon brings it there a moment after its end.
    package func archived(_ run: Int) async throws {
        let archive = TestRepository(at: "\(home)/archive.git", environment: environment)
        try await eventually("the archive of run \(run)") {
            (try? await archive.git("rev-parse", "--quiet", "--verify", "refs/runs/\(run)")) != nil
        }
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
        // Background runs would be among the runs that a test counts, and proved steps would sometimes run.
        let defaults = [
            ("--minimum-free", ["--minimum-free", "0"]), ("--refresh", ["--no-refresh"]),
            ("--proof-sampling", ["--proof-sampling", "0"]),
        ].filter { !options.contains($0.0) }.flatMap(\.1)
        let daemon = try start(
            launcher + prefix + sharing([Bench.pipectl, "watch"]) + defaults + options
                + (options.contains("--interval") ? [] : ["--interval", "3600"]) + [repository])
        do {
            try await daemon.event(.watching)
            let result = try await body(daemon)
            daemon.child.kill()
            _ = await daemon.child.end
            return result
        } catch {
            daemon.child.kill()
            _ = await daemon.child.end
            throw Failure(description: "\(error)\nthe daemon said:\n\(daemon.text)")
        }
    }

    /// Starts a command whose standard error is a daemon's log, which is JSON.
    package func start(_ command: [String], in folder: String? = nil) throws -> Daemon {
        let output = "\(root)/daemon-\(UInt32.random(in: 0 ... .max))-"
        let child = try Child(
            command, in: folder ?? root, environment: environment.merging(["PIPECTL_LOG_FORMAT": "json"]) { $1 },
            output: output)
        return Daemon(child: child, log: output + "2")
    }

    package struct Failure: Error, CustomStringConvertible {
        package var description: String
        package init(description: String) { self.description = description }
    }
}
