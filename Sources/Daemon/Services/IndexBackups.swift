import DaemonLog
import Running
import Concurrency
import StateFiles
import Foundation
import Logging
import Results
import Store

/// Keeps a copy of the index that is at most a day old, and keeps its write-ahead log short.
struct IndexBackups: Sendable {
    let index: Store.Index
    let folder: StateFolder
    let health: Health
    let archive: ArchiveService
    let log: Logger

    func run() async {
        while !Task.isCancelled {
            await backUpIfDue()
            await checkpoint()
            do { try await Task.sleep(for: .seconds(600)) } catch { return }
        }
    }

    /// Writes the write-ahead log into the index: a lost log then loses only what happened since.
    func checkpoint() async {
        do { try await index.checkpoint() } catch {
            log.debug("the index's log could not be written into it: \(error)", metadata: .code(.backupFailed))
        }
        await archive.export()
    }

    /// Makes a copy of the index if there is none of the last day; logs why if that fails.
    func backUpIfDue() async {
        guard Self.isDue(made: Store.Index.backupDate(of: folder.index), now: Date()) else { return }
        let size = (try? FileManager.default.attributesOfItem(atPath: folder.index)[.size] as? NSNumber)?.intValue ?? 0
        guard health.hasSpace(), (DiskSpace.free(at: folder.path) ?? .max) > size + 4 * ReservedDiskSpace.bytes else {
            return
        }
        do {
            let index = index
            try await offThread { try index.backUp() }
            health.clearTrouble("the index can't be copied")
        } catch let error as ArchiveError where error.code == .damagedIndex {
            health.noteTrouble("the index can't be copied", error)
        } catch {
            log.warning(
                "the index could not be copied; trying again in 10 min: \(error)", metadata: .code(.backupFailed))
        }
    }

    /// Whether the copy made at `made` is older than a day; one with a time in the future counts as old.
    static func isDue(made: Date?, now: Date) -> Bool {
        guard let made else { return true }
        let age = now.timeIntervalSince(made)
        return age >= 86_400 || age < -3_600
    }
}
