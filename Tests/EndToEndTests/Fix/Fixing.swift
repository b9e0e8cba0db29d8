import TestBasics
import Reports
import Results
import Foundation
import TestSupport

/// A repository whose changes fail unless `value.txt` says good, and a script as the fixer, which each test writes.
enum Fixing {
    /// - Parameter options: Options of the fix after the command: `, attempts: 2`.
    static func files(_ bench: Bench, _ options: String = "", integrity: String = "") -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) {
                let build = Step("build", run: "mkdir -p cache out && echo built > cache/product && echo old > out/left.txt")
                build
                Step("check", needs: build, run: "sh check.sh")
            }.onFailure(Fix(by: "sh \(bench.meet)/fixer"\(options)))\(integrity)
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """,
            "check.sh": "echo the value is $(cat value.txt); grep -qx good value.txt\n", "value.txt": "good\n",
            "other.txt": "one\ntwo\nthree\nfour\nfive\nsix\n", ".gitignore": "cache/\n*.tmp\n",
            "Tests/SumTests.swift": """
            import Testing

            @Test func adds() { #expect(1 + 1 == 2) }

            """,
        ]
    }

    /// Starts with these files on main, and with a fixer.
    static func begin(
        _ bench: Bench, _ fixer: String, _ options: String = "", integrity: String = ""
    ) async throws {
        try await bench.commit(files(bench, options, integrity: integrity), "Fix")
        try write(bench, fixer)
    }

    static func write(_ bench: Bench, _ fixer: String) throws {
        try Data((fixer + "\n").utf8).write(to: URL(fileURLWithPath: "\(bench.meet)/fixer"))
    }

    static func report(_ bench: Bench, _ id: RunID) async throws -> Report {
        let ended = try await bench.pipectl("report", "\(id)", "--format", "json")
        return try ReportJSON.decoder().decode(Report.self, from: Data(ended.output.utf8))
    }

    /// Makes a change that fails, lets the daemon observe it, and returns the fix series of its first run.
    static func series(_ bench: Bench, _ files: [String: String] = ["value.txt": "bad\n"]) async throws -> FixSeries {
        _ = try await bench.look()
        try await bench.change(1, files)
        _ = try await bench.look()
        guard let fixes = try await report(bench, 1).fixes else {
            throw Bench.Failure(description: "run 1 says nothing of a fix: \(try await report(bench, 1).reason)")
        }
        return fixes
    }

    /// The files that an offered commit changes, one line each: `M value.txt`.
    static func changes(_ bench: Bench, _ attempt: FixAttempt) async throws -> [String] {
        let store = "\(bench.home)/mirrors/repo.merges.git"
        let text = try await bench.git(
            ["diff-tree", "-r", "--name-status", "--no-commit-id", attempt.commit ?? "none"], in: store)
        return text.split(separator: "\n").map { String($0.replacing("\t", with: " ")) }
    }
}
