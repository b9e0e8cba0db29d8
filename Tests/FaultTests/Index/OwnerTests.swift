import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The owner of the state folder, and the files of a dead owner: faults 25 and 30.
struct OwnerTests {
    @Test("fault 25: a second daemon on one state folder", .timeLimit(.minutes(6)))
    func secondDaemon() async throws {
        try await Bench.faults { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let second = try await bench.look()
                #expect(second.code != 0)
                #expect(second.errors.contains("pid \(daemon.child.id)"), "\(second.errors)")
                daemon.child.kill()
                _ = await daemon.child.end
            }
            #expect(FileManager.default.fileExists(atPath: "\(bench.home)/lock"), "what SIGKILL leaves")
            #expect(try await bench.look().code == 0, "the dead owner's lock is taken over")
        }
    }

    @Test("fault 30: lock files that a killed pipectl left in its own repositories", .timeLimit(.minutes(6)))
    func staleLocks() async throws {
        try await Bench.faults { bench in
            _ = try await bench.look()
            let store = "\(bench.home)/mirrors/repo.merges.git"
            let locks = [
                "\(store)/refs/pipectl/runs/1.lock", "\(store)/packed-refs.lock", "\(store)/config.lock",
                "\(bench.home)/archive.git/refs/runs/1.lock", "\(bench.home)/archive.git/packed-refs.lock",
                "\(bench.home)/archive.git/HEAD.lock",
            ]
            for lock in locks {
                let url = URL(fileURLWithPath: lock)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data().write(to: url)
            }
            let head = try await bench.change(1, ["a.txt": "a\n"])
            let after = try await bench.look()
            #expect(after.code == 0, "\(after.errors)")
            let found = try await Invariants(bench: bench, expected: ["test \(head)"], accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.map(\.verdict) == [.passed])
        }
    }

    @Test("fault 30: a lock file in the watched repository is reported and never removed", .timeLimit(.minutes(6)))
    func foreignLock() async throws {
        try await Bench.faults { bench in
            _ = try await bench.look("--notes")
            let lock = "\(bench.repository)/.git/refs/notes/pipectl.lock"
            try await bench.command(["mkdir", "-p", "\(bench.repository)/.git/refs/notes"]).succeeded()
            try Data("somebody's\n".utf8).write(to: URL(fileURLWithPath: lock))
            let main = "\(bench.repository)/.git/refs/heads/main.lock"
            try Data().write(to: URL(fileURLWithPath: main))
            let head = try await bench.git(["commit-tree", "-p", "main", "-m", "Change", "main^{tree}"])
            try await bench.git(["update-ref", "refs/pull/1/head", head])
            let after = try await bench.look("--notes")
            #expect(after.code == 0, "a note that can't be written is no verdict: \(after.errors)")
            #expect(after.errors.contains("could not be written to refs/notes/pipectl"), "\(after.errors)")
            for path in [lock, main] { #expect(FileManager.default.fileExists(atPath: path)) }
            #expect(FileManager.default.contents(atPath: lock) == Data("somebody's\n".utf8))
        }
    }
}
