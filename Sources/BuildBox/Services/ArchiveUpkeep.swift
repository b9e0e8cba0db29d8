import Archive
import Engine
import Foundation
import Logging

/// Keeps the archive in order: what is written to it reaches the disk, and many small objects become one pack.
actor ArchiveUpkeep {
    private let store: ArchiveStore
    private let log: Logger
    /// Whether the disk refused to flush the archive the last time.
    private var isUnflushed = false

    init(store: ArchiveStore, log: Logger) {
        self.store = store
        self.log = log
    }

    /// Flushes what is written, until the task is cancelled.
    func keepFlushing() async { await store.keepFlushing { await self.flush() } }

    /// Has what is in the archive's journal in the archive's files, so that the next start has nothing to look for.
    func flush() async {
        do {
            try await store.flush()
            isUnflushed = false
        } catch {
            // Said once: it is tried again every second.
            if !isUnflushed {
                log.error(
                    "the archive could not be flushed; trying again, at the latest at the next start from its journal: \(error)"
                )
            }
            isUnflushed = true
        }
    }

    /// Packs the archive when many small objects have come together; libgit2 can't, so `git gc` does.
    func pack() async {
        do {
            let maintenance = try store.maintenance()
            guard maintenance.isNeeded else { return }
            try await store.flush()
            let result = try await Tool(
                "git", Array(maintenance.command.dropFirst()), deadline: .seconds(1_800)
            ).run()
            if !result.succeeded { log.warning("the archive could not be packed: \(result.text)") }
        } catch {
            log.warning("the archive could not be packed: \(error)")
        }
    }
}
