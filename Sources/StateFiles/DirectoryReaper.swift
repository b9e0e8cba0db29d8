/// Removes the directories of ended runs one after the other while other runs go on, so that no run waits until a disk
/// has deleted its files.
package actor DirectoryReaper {
    /// How many removals may be queued. Each of them stands for a workspace on the disk.
    static let capacity = 100

    private var queue: [@Sendable () async -> Void] = []
    private var isClosed = false
    /// Removals that are under way, and those who wait for their end.
    private var underway = 0
    private var closing: [CheckedContinuation<Void, Never>] = []
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    package init() { (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Queues a removal; false if the queue is full or closed: then the caller has to remove the directory itself.
    package func add(_ remove: @escaping @Sendable () async -> Void) -> Bool {
        guard !isClosed, queue.count < DirectoryReaper.capacity else { return false }
        queue.append(remove)
        wake.yield()
        return true
    }

    /// Works until the task is cancelled. ``close()`` does what is left in the queue then.
    package func run() async {
        for await _ in wakes {
            while !queue.isEmpty, !Task.isCancelled { await removeOldest() }
        }
    }

    /// Empties the queue, and waits for removals that are under way.
    package func removeAll() async {
        while !queue.isEmpty { await removeOldest() }
        while underway > 0 { await withCheckedContinuation { closing.append($0) } }
    }

    /// Does the same as ``removeAll()``, and accepts nothing more.
    package func close() async {
        isClosed = true
        await removeAll()
    }

    private func removeOldest() async {
        let remove = queue.removeFirst()
        underway += 1
        await remove()
        underway -= 1
        guard underway == 0 else { return }
        for one in closing { one.resume() }
        closing = []
    }
}
