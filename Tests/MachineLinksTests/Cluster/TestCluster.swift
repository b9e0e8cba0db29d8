import Foundation
import TestBasics
import Testing

/// The cluster that `script/cluster` starts, while a suite runs.
struct TestCluster: Sendable {
    @TaskLocal static var current: TestCluster?

    let folder: String
    /// What `script/cluster env` says, and what commands need.
    let environment: [String: String]

    private static let script: String = {
        var path = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { path.deleteLastPathComponent() }
        return path.appendingPathComponent("script/cluster").path
    }()

    /// Whether `script/cluster-faults` runs the tests.
    static let isAsked = ProcessInfo.processInfo.environment["PIPECTL_CLUSTER_TABLE"] != nil

    static let isPossible: Bool = {
        #if os(Linux)
            getuid() == 0
                && ["slurmctld", "slurmd", "munged", "sbatch", "sshd", "ssh", "ip"].allSatisfy {
                    succeeds(["sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; command -v \($0)"])
                } && succeeds(["unshare", "--net", "--pid", "--mount", "--fork", "true"])
        #else
            false
        #endif
    }()

    /// Starts a cluster, runs `body`, and ends the cluster.
    static func run(_ body: () async throws -> Void) async throws {
        let folder = try TemporaryFolder(.disk)
        let path = folder["cluster"]
        let inherited = ProcessInfo.processInfo.environment
        var environment = [
            "PATH": (inherited["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin", "HOME": "/root", "LC_ALL": "C",
            "PIPECTL_CLUSTER": path, "TMPDIR": folder.path,
            // Nodes have the home of this machine; what the links put there must not stay.
            "XDG_CACHE_HOME": folder["cache"],
        ]
        let bare = TestCluster(folder: path, environment: environment)
        do {
            try await bare.run("start")
            for line in try await bare.run("env").split(whereSeparator: { $0 == "\n" || $0 == " " }) {
                let pair = line.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { environment[pair[0]] = pair[1] }
            }
            try await $current.withValue(TestCluster(folder: path, environment: environment)) { try await body() }
        } catch {
            _ = try? await bare.run("stop")
            throw error
        }
        try await bare.run("stop")
    }

    /// Runs `script/cluster`.
    @discardableResult
    func run(_ arguments: String...) async throws -> String { try await command([Self.script] + arguments) }

    /// Runs a command of this machine with the cluster's variables.
    @discardableResult
    func command(_ words: [String]) async throws -> String {
        var runner = CommandRunner(environment: environment)
        runner.limit = .seconds(90)
        let ended = try await runner.end(of: words)
        guard ended.code == 0 else { throw CommandFailure(command: words, ended: ended) }
        return ended.text
    }

    /// The process id of a part of the cluster.
    func process(_ part: String) async throws -> Int32 { try #require(Int32(try await run("pid", part))) }

    /// Kills a part with SIGKILL.
    func kill(_ part: String) async throws {
        let id = try await process(part)
        try #require(Foundation.kill(id, SIGKILL) == 0)
        // A process that was killed lives until the kernel has cleaned up.
        try await eventually("the end of \(part)") { (try? await process(part)) == nil }
    }

    /// The address of a host.
    func address(_ host: Int) throws -> String { try #require(environment["PIPECTL_CLUSTER_HOST\(host)"]) }
}

struct ClusterTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws { try await TestCluster.run(function) }
}

extension Trait where Self == ClusterTrait {
    /// Starts one cluster for the suite: `TestCluster.current`.
    static var cluster: ClusterTrait { ClusterTrait() }
}

/// The rows of the table of `script/cluster-faults`: which fault was made, and what came of it.
enum FaultTable {
    /// Adds a row to the file of PIPECTL_CLUSTER_TABLE; does nothing without one.
    static func add(_ fault: String, _ outcome: String, since begin: ContinuousClock.Instant) {
        guard let path = ProcessInfo.processInfo.environment["PIPECTL_CLUSTER_TABLE"] else { return }
        let seconds = begin.duration(to: .now) / .seconds(1)
        let row = "| \(fault) | \(outcome.replacing("|", with: "/")) | \(String(format: "%.1f", seconds)) |\n"
        guard let file = FileHandle(forWritingAtPath: path) else {
            Issue.record("there is no file \(path)")
            return
        }
        defer { try? file.close() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: Data(row.utf8))
    }
}
