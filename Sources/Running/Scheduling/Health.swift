import DaemonLog
import Workspaces
package import StateFiles
package import Logging
import Synchronization

/// Problems of this machine, such as a full disk, that keep the daemon from working. It logs each once when it starts
/// and once when it ends.
package final class Health: Sendable {
    private struct State {
        var isFull = false
        /// What can't be done, with the sentence about it.
        var troubles: [String: String] = [:]
        var activity = 0
    }

    private let folder: String
    private let freeBytes: @Sendable () -> Int?
    /// The free bytes that a run needs to start.
    private let wantedBytes: Int
    package let reserve: ReservedDiskSpace
    private let log: Logger
    private let state = Mutex(State())
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - folder: The state folder, whose disk must have space.
    ///   - wantedBytes: The free bytes that a run needs to start.
    ///   - freeBytes: Returns the free bytes of that disk; nil if unknown.
    ///   - onRoom: Called when a full disk has space again; must not block.
    package init(
        folder: String, wantedBytes: Int, reserve: ReservedDiskSpace, log: Logger,
        freeBytes: (@Sendable () -> Int?)? = nil, onRoom: @escaping @Sendable () -> Void
    ) {
        self.folder = folder
        self.freeBytes = freeBytes ?? { DiskSpace.free(at: folder) }
        self.wantedBytes = wantedBytes
        self.reserve = reserve
        self.log = log
        self.onRoom = onRoom
    }

    /// The free bytes beyond those that a run needs to start; negative if the disk is too full.
    package var spareBytes: Int { (freeBytes() ?? .max) - wantedBytes }

    /// Whether the state folder's disk has space for another run; logs each change once.
    package func hasSpace() -> Bool {
        let free = freeBytes()
        let isFull = free.map { $0 < wantedBytes } ?? false
        let wasFull = state.withLock { state in
            defer { state.isFull = isFull }
            return state.isFull
        }
        if isFull, !wasFull {
            log.error(
                "no run can start: \((free ?? 0) >> 20) MiB are free at \(folder), \(wantedBytes >> 20) MiB are needed. Free space, or remove old runs with `pipectl gc`; until then runs wait.",
                metadata: .code(.diskFull)
            )
        } else if !isFull, wasFull {
            log.notice("there is enough space at \(folder) again: runs continue", metadata: .code(.diskHasRoom))
            // The caller that notices it need not be the one that starts runs.
            onRoom()
        }
        return !isFull
    }

    /// Why no run starts although some wait; nil if nothing prevents it.
    package var obstacle: String? {
        if !hasSpace() { return "the disk of \(folder) is nearly full" }
        return state.withLock { $0.troubles.min { $0.key < $1.key }?.value }
    }

    package var hasTroubles: Bool { state.withLock { !$0.troubles.isEmpty } }

    /// Records something that can't be done now, logs it once, and shows it in the status until ``clearTrouble(_:)``.
    package func noteTrouble(_ what: String, _ error: any Error) {
        if DiskErrors.isFull(error), reserve.release() {
            log.error(
                "the disk of \(folder) is full: released the reserve of \(ReservedDiskSpace.bytes >> 20) MiB",
                metadata: .code(.reserveReleased))
        }
        let sentence = "\(what): \(error)"
        if state.withLock({ $0.troubles.updateValue(sentence, forKey: what) }) == nil {
            log.error("\(sentence) Retrying every 2 s.", metadata: .code(.trouble))
        }
    }

    package func clearTrouble(_ what: String) {
        if state.withLock({ $0.troubles.removeValue(forKey: what) }) != nil {
            log.notice("solved: \(what)", metadata: .code(.troubleSolved))
        }
    }

    /// Counts activity that may have left memory to release: observations with news, and requests.
    package func noteActivity() { state.withLock { $0.activity &+= 1 } }
    package var activity: Int { state.withLock { $0.activity } }
}
