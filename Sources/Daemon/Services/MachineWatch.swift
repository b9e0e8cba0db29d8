import Watching
import Running
import Concurrency
import StateFiles
import Foundation
import Git
import Logging
import Results
import Store

/// Tries again, every two seconds, what could not be done for want of something of this machine: a full disk, no
/// descriptors, an index that can't be written. Less often while nothing happens and nothing is wanting.
struct MachineWatch: Sendable {
    let health: Health
    let queue: RunQueue
    let watchers: Watchers
    let workspaces: WorkspaceStores
    let memory: IdleMemory

    func run() async {
        var wasShort = false
        var memory = memory
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(memory.isQuiet ? 6 : 2)) } catch { return }
            let wasFull = !health.hasSpace()
            let hasSpace = await workspaces.makeSpace(health)
            let isShort = wasFull || !hasSpace || health.hasTroubles
            if wasShort && !isShort { await queue.unstarted.archive() }
            wasShort = isShort
            // Whoever found an obstacle waits for a wake-up; nobody else knows when the disk has room again.
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

/// Gives memory back once nothing has happened for a while, and then not again until something does; from time to time
/// also while somebody asks again and again how it goes.
struct IdleMemory: Sendable {
    /// How long memory is kept for what may come next: the first push after it was given back waits 5 ms longer.
    private static let patience = Duration.seconds(60)

    private let index: Store.Index
    private let health: Health
    private let board: LiveBoard
    private var (seen, released) = (0, -1)
    private var (quietSince, releasedAt) = (ContinuousClock.now, ContinuousClock.now)
    /// Whether nothing has happened since the last time, and nothing is wanting.
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
