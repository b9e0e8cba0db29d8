/// The folders of runs that have ended, which are removed one after the other behind the runs that go on: a run that has
/// its verdict holds no place until a disk has forgotten its files.
actor Leftovers {
    /// How many may wait; each is a workspace on the disk.
    static let most = 100

    private var waiting: [@Sendable () async -> Void] = []
    private var isOver = false
    /// How many are being removed, and who waits for that.
    private var underway = 0
    private var closing: [CheckedContinuation<Void, Never>] = []
    private let news: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init() { (news, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Has `remove` done later; false when too many wait, or it is all over: then the caller has to do it.
    func take(_ remove: @escaping @Sendable () async -> Void) -> Bool {
        guard !isOver, waiting.count < Leftovers.most else { return false }
        waiting.append(remove)
        tell.yield()
        return true
    }

    /// Removes what comes until the task is cancelled; ``close()`` has the rest.
    func run() async {
        for await _ in news {
            while !waiting.isEmpty, !Task.isCancelled { await removeOldest() }
        }
    }

    /// Removes all that waits, and waits for what is being removed.
    func removeAll() async {
        while !waiting.isEmpty { await removeOldest() }
        while underway > 0 { await withCheckedContinuation { closing.append($0) } }
    }

    /// The same, and takes nothing more.
    func close() async {
        isOver = true
        await removeAll()
    }

    private func removeOldest() async {
        let remove = waiting.removeFirst()
        underway += 1
        await remove()
        underway -= 1
        guard underway == 0 else { return }
        for one in closing { one.resume() }
        closing = []
    }
}
