import Watching
import Running
import Concurrency
import StateFiles
import Foundation
import Git
import Logging
import Placing
import Results
import Store

/// Retries every two seconds what failed because of this machine: a full disk, no free descriptors, an index that can't
/// be written. It checks less often while nothing happens and nothing is missing.
struct MachineWatch: Sendable {
    let health: Health
    let queue: RunQueue
    let watchers: Watchers
    let workspaces: WorkspaceStores
    let placement: Placement
    let memory: IdleMemory

    func run() async {
        var (wasShort, otherSlots) = (false, placement.otherSlots)
        var memory = memory
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(memory.isQuiet ? 6 : 2)) } catch { return }
            await placement.refresh()
            let before = otherSlots
            otherSlots = placement.otherSlots
            // Nobody tells the daemon that a machine was added.
            if otherSlots > before { queue.wakeUp() }
            let wasFull = !health.hasSpace()
            let hasSpace = await workspaces.makeSpace(health)
            let isShort = wasFull || !hasSpace || health.hasTroubles
            if wasShort && !isShort { await queue.unstarted.archive() }
            wasShort = isShort
            // The task that found an obstacle waits to be woken, and no other notices when the disk has space again.
            if isShort { queue.wakeUp() }
            var isWanting = isShort
            for watcher in watchers.all where await watcher.failedForWantOfSomething {
                isWanting = true
                watcher.wakeUp()
            }
            await workspaces.expire()
            let reserve = health.reserve
            if hasSpace, !reserve.isWhole { try? await offThread { reserve.renew() } }
            await memory.release(isWanting: isWanting)
        }
    }
}

/// Returns memory to the system once nothing has happened for a while, and then not again until something does; also
/// from time to time while a client keeps asking for the state.
struct IdleMemory: Sendable {
    /// How long memory is kept for the next work: the first push after a release takes 5 ms longer.
    private static let patience = Duration.seconds(60)

    private let index: Store.Index
    private let health: Health
    private let board: LiveBoard
    private var (seen, released) = (0, -1)
    private var (quietSince, releasedAt) = (ContinuousClock.now, ContinuousClock.now)
    /// Whether nothing has happened since the last call, and nothing is missing.
    private(set) var isQuiet = false

    init(index: Store.Index, health: Health, board: LiveBoard) {
        self.index = index
        self.health = health
        self.board = board
        seen = health.activity
    }

    mutating func release(isWanting: Bool) async {
        let (activity, isIdle) = (health.activity, board.isEmpty)
        if activity != seen || !isIdle { quietSince = .now }
        isQuiet = activity == seen && isIdle && !isWanting
        let since = min(quietSince, releasedAt + Self.patience * 9)
        if activity != released, isIdle, since + Self.patience < .now {
            (released, releasedAt) = (activity, .now)
            index.releaseMemory()
            closeIdleRepositories()
            try? await offThread { Memory.release() }
        }
        seen = activity
    }
}
