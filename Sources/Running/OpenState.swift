import Layers
import DaemonLog
import Preparing
import Workspaces
package import StateFiles
package import Archive
import Foundation
package import Logging
import Preparing
import Results
package import Store

/// The state folder while this process owns it.
package struct OpenState: Sendable {
    package let folder: StateFolder
    package let index: Store.Index
    package let archive: ArchiveStore
    package let reserve: ReservedDiskSpace
    private let lock: StateLock

    /// Opens the state folder for this process alone.
    ///
    /// - Parameter purpose: The command that other processes are told about: `watch`.
    /// - Throws: An error with the next step: the state is locked or damaged.
    package init(_ folder: StateFolder, purpose: String, log: Logger) async throws {
        try folder.create()
        let reserve = ReservedDiskSpace(path: folder.reserve)
        // Without space nothing can be started, not even the lock's note be written.
        if let free = DiskSpace.free(at: folder.path), free < 1 << 20 { _ = reserve.release() }
        lock = try StateLock.acquire(folder, purpose: purpose)
        for path in StaleTemporaryFiles.remove(from: folder, olderThan: Date()) {
            log.notice("removed \(path), left by a pipectl that was killed", metadata: .code(.leftoversRemoved))
        }
        let stored = try ArchiveStore(home: folder.path)
        index = try await Self.openIndex(folder, stored)
        archive = stored.reading(index)
        self.folder = folder
        self.reserve = reserve
    }

    /// Opens and checks the index. A missing one is not created while the archive has runs.
    private static func openIndex(_ folder: StateFolder, _ archive: ArchiveStore) async throws -> Store.Index {
        let size = try? FileManager.default.attributesOfItem(atPath: folder.index)[.size] as? NSNumber
        if (size?.intValue ?? 0) == 0 {
            let runs = try await archive.ids().count
            let hasCopy = Store.Index.backupDate(of: folder.index) != nil
            if runs > 0 || hasCopy { throw Store.Index.missing(folder.index, runs: runs) }
        }
        return try Store.Index(path: folder.index)
    }

    /// Decides about the runs that an earlier process left running.
    ///
    /// - Returns: The folders of those that may be taken over.
    package func recover(log: Logger) async throws -> [String] {
        let settled = try await archive.settle(index)
        for id in settled.finished {
            log.notice("run \(id) had ended; recorded its verdict", metadata: .code(.recorded, run: id))
        }
        if settled.added > 0 {
            log.warning(
                "added \(settled.added) runs to the index that only archive.git had. The next look finds pushes since then",
                metadata: .code(.runsRestored)
            )
        }
        for problem in settled.problems {
            log.warning("archive.git: \(problem.description)", metadata: .code(.archiveProblem))
        }
        let left = LeftRun.all(in: folder)
        var kept: [String] = []
        for run in try await index.recoverInterrupted(goingOn: Set(left.map(\.left.run))) {
            switch run.outcome {
            case .queued(let attempt):
                kept += left.filter { $0.left.run == run.id }.map(\.folder)
                log.notice(
                    "run \(run.id) was interrupted and is queued for attempt \(attempt)",
                    metadata: .code(.runInterrupted, run: run.id))
            case .ended(let verdict, let reason):
                log.notice(
                    "run \(run.id) ended: \(verdict.title), \(reason)",
                    metadata: .code(.runEnded, run: run.id, ["verdict": verdict.rawValue]))
            }
        }
        return kept
    }

    /// Removes the folders of runs that an earlier process left.
    package func removeFolders(except kept: [String]) async {
        for folder in [folder.workspaces, folder.live] {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where !kept.contains("\(folder)/\(name)") {
                try? await Workspace.remove("\(folder)/\(name)")
            }
        }
    }

    /// Releases the state folder.
    package func close() { lock.release() }
}
