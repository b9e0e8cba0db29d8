import Foundation
import GRDB
import TestBasics

/// A disk of a chosen size under the state folder of a bench; needs root on Linux.
package struct SmallDisk: Sendable {
    let bench: Bench
    private var filler: String { "\(bench.home)/filler" }

    private var reserve: String { "\(bench.home)/ballast" }

    /// Whether the file is there that pipectl can give up for a verdict.
    package var hasReserve: Bool { FileManager.default.fileExists(atPath: reserve) }

    /// Makes a bench whose state is on a small disk while `body` runs.
    package static func with(
        megabytes: Int, _ files: [String: String], _ body: (Bench, SmallDisk) async throws -> Void
    ) async throws {
        try await Bench.with(files) { bench in
            try await mount(megabytes, at: bench.home)
            do {
                try await body(bench, SmallDisk(bench: bench))
            } catch {
                _ = try? await runCommand("umount", "-l", bench.home)
                throw error
            }
            try await runCommand("umount", "-l", bench.home)
        }
    }

    private static func mount(_ megabytes: Int, at path: String) async throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try await runCommand("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=700", "pipectl-test", path)
    }

    /// Waits for the reserve, which is made beside the daemon's start.
    package func waitForReserve() async throws {
        try await eventually("the reserve of \(bench.home)") { hasReserve }
    }

    /// Fills the disk to the last page; what others write from now on finds no room.
    ///
    /// - Parameter keepsReserve: Whether pipectl keeps its reserve.
    package func fill(keepsReserve: Bool = true) async throws {
        try await waitForReserve()
        if !keepsReserve { try FileManager.default.removeItem(atPath: reserve) }
        // A write-ahead log that has room takes a verdict however full the disk is.
        try await emptyLogOfIndex()
        try await takeRoom()
    }

    /// Takes every byte that is left, as somebody else on the machine would.
    package func takeRoom() async throws {
        // dd ends with an error when the disk is full, which is what is wanted.
        _ = try await bench.command(["dd", "if=/dev/zero", "of=\(filler)", "bs=4096", "oflag=append", "conv=notrunc"])
    }

    /// Has what is in the index's write-ahead log written to the index, so that the next commit needs room on the disk.
    private func emptyLogOfIndex() async throws {
        try await eventually("an empty log of the index") {
            let index = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
            return try await index.writeWithoutTransaction { db in
                // 1 in the first column: somebody reads or writes just now.
                try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
            }
        }
    }

    package func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }
}
