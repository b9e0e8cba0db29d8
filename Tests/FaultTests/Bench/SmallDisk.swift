import GRDB
import Foundation
import TestSupport

/// A disk of a chosen size under the state folder of a bench; needs root on Linux.
struct SmallDisk {
    let bench: Bench
    private var filler: String { "\(bench.home)/filler" }

    /// Makes a bench whose state is on a small disk while `body` runs.
    static func with(
        megabytes: Int, _ more: [String: String] = [:], _ body: (Bench, SmallDisk) async throws -> Void
    ) async throws {
        try await Bench.faults(more) { bench in
            try await bench.command(["mkdir", "-m", "700", bench.home]).succeeded()
            try await bench.command(
                ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=700", "pipectl-test", bench.home]
            ).succeeded()
            do {
                try await body(bench, SmallDisk(bench: bench))
            } catch {
                _ = try await bench.command(["umount", "-l", bench.home])
                throw error
            }
            _ = try await bench.command(["umount", "-l", bench.home])
        }
    }

    /// Fills the disk to the last page, so that later writes find no space.
    ///
    /// - Parameter hasBallast: Whether pipectl keeps its reserve file, which it can delete for a verdict.
    func fill(hasBallast: Bool = true) async throws {
        let ballast = "\(bench.home)/ballast"
        // The daemon writes the file while it starts.
        guard try await eventually(within: .seconds(20), { FileManager.default.fileExists(atPath: ballast) }) else {
            throw Bench.Failure(description: "there is no ballast")
        }
        if !hasBallast { try FileManager.default.removeItem(atPath: ballast) }
        // A write-ahead log with free space takes a verdict however full the disk is.
        try await emptyLogOfIndex()
        // dd ends with an error when the disk is full, as intended.
        _ = try await bench.command(["dd", "if=/dev/zero", "of=\(filler)", "bs=4096"])
    }

    /// Writes the index's write-ahead log into the index, so that the next transaction needs space on the disk.
    private func emptyLogOfIndex() async throws {
        let isEmpty = try await eventually(within: .seconds(20)) {
            let index = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
            return try await index.writeWithoutTransaction { db in
                // 1 in the first column: a process is reading or writing.
                try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
            }
        }
        guard isEmpty else { throw Bench.Failure(description: "the index's log could not be emptied") }
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }
}
