import TestBasics
import Foundation
import TestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The workflows of the benches. Their steps run scripts that changes bring, so all benches compile the same program.
enum Definition {
    /// A change runs `check.sh`; a move of main runs `release.sh` and archives `dist/`; `four` has four concurrent
    /// steps.
    static let files = [
        "workflows/x.swift": """
        import Pipeline

        let test = Workflow("test", on: .pullRequest(into: "main")) {
            Step("check", run: "sh check.sh").neverProved().timeout(.minutes(30))
        }
        let four = Workflow("four", on: .manual) {
            for part in 1...4 { Step("part \\(part)", run: "sh part.sh \\(part)").neverProved() }
        }
        let release = Workflow("release", on: .merge(into: "main")) {
            Step("pack", run: "sh release.sh").artifacts("dist/*.bin")
        }
        @main struct Workflows: WorkflowSet { static let workflows = [test, four, release] }

        """,
        "check.sh": "echo checked\n", "part.sh": "echo part $1\n",
        "release.sh": "mkdir dist; echo released > dist/note.bin\n",
    ]

    static func with(_ more: [String: String]) -> [String: String] { files.merging(more) { $1 } }
}

extension Bench {
    /// A bench with the workflows of ``Definition``.
    static func faults(
        _ more: [String: String] = [:], on disk: String = "/tmp", _ body: (Bench) async throws -> Void
    ) async throws {
        try await with(Definition.with(more), on: disk, body)
    }

    /// A shell line that records outside of the sandbox that it has run.
    ///
    /// It creates the file that it writes to: each run may be another user, and none may write to another user's file.
    func effect(_ name: String) -> String {
        let path = "\(meet)/effects"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            chmod(path, 0o666)
        }
        return "echo \(name) >> \(path)"
    }

    /// The lines that ``effect(_:)`` recorded, in order.
    var effects: [String] {
        let data = FileManager.default.contents(atPath: "\(meet)/effects") ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The report of a run as JSON text.
    func report(_ run: Int) async throws -> String {
        try await pipectl("report", "\(run)", "--format", "json").output
    }

    /// Waits until the daemon has ended a run.
    func follow(_ run: Int) async throws { _ = try await pipectl("logs", "\(run)", "--follow") }
}

extension SmallDisk {
    /// A bench with the workflows of ``Definition``, on a small disk.
    static func faults(
        megabytes: Int = 64, _ more: [String: String] = [:], _ body: (Bench, SmallDisk) async throws -> Void
    ) async throws {
        try await with(megabytes: megabytes, Definition.with(more), body)
    }
}
