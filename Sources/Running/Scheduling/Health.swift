import Workspaces
package import StateFiles
package import Logging
import Synchronization

/// What this machine can't do now, such as start a run on a full disk. It says each once, and again when it is over.
package final class Health: Sendable {
    private struct State {
        var isFull = false
        /// What can't be done, and the sentence about it.
        var troubles: [String: String] = [:]
        var activity = 0
    }

    private let folder: String
    private let freeBytes: @Sendable () -> Int?
    /// Bytes that have to be free for a run to start.
    private let wantedBytes: Int
    package let reserve: ReservedDiskSpace
    private let log: Logger
    private let state = Mutex(State())
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - folder: The state folder, whose disk must have room.
    ///   - wantedBytes: Bytes that have to be free for a run to start.
    ///   - freeBytes: What is free on that disk; nil where that can't be found out.
    ///   - onRoom: Called when a full disk has room again; must not block.
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

    /// Bytes that are free beyond those that a run needs to start; negative where the disk is too full.
    package var spareBytes: Int { (freeBytes() ?? .max) - wantedBytes }

    /// Whether the state folder's disk has room for another run; says so once when it has not, and when it has again.
    package func hasSpace() -> Bool {
        let free = freeBytes()
        let isFull = free.map { $0 < wantedBytes } ?? false
        let wasFull = state.withLock { state in
            defer { state.isFull = isFull }
            return state.isFull
        }
        if isFull, !wasFull {
            log.error(
                "no run can start: \((free ?? 0) >> 20) MiB are free at \(folder), \(wantedBytes >> 20) MiB are needed. Free space, or remove old runs with `pipectl gc`; until then runs wait."
            )
        } else if !isFull, wasFull {
            log.notice("there is enough space at \(folder) again: runs continue")
            // Whoever asks finds out; it need not be the one that starts runs.
            onRoom()
        }
        return !isFull
    }

    /// Why no run starts although some wait; nil where nothing is in the way.
    package var obstacle: String? {
        if !hasSpace() { return "the disk of \(folder) is nearly full" }
        return state.withLock { $0.troubles.min { $0.key < $1.key }?.value }
    }

    package var hasTroubles: Bool { state.withLock { !$0.troubles.isEmpty } }

    /// Notes what can't be done now, says it once, and shows it in the status until ``clearTrouble(_:)``.
    package func noteTrouble(_ what: String, _ error: any Error) {
        if DiskErrors.isFull(error), reserve.release() {
            log.error("the disk of \(folder) is full: released the reserve of \(ReservedDiskSpace.bytes >> 20) MiB")
        }
        let sentence = "\(what): \(error)"
        if state.withLock({ $0.troubles.updateValue(sentence, forKey: what) }) == nil {
            log.error("\(sentence) Retrying every 2 s.")
        }
    }

    package func clearTrouble(_ what: String) {
        if state.withLock({ $0.troubles.removeValue(forKey: what) }) != nil { log.notice("solved: \(what)") }
    }

    /// Counts what may have left memory behind: looks that saw something, and requests.
    package func noteActivity() { state.withLock { $0.activity &+= 1 } }
    package var activity: Int { state.withLock { $0.activity } }
}
