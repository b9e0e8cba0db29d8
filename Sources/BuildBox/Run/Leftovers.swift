/// The folders of runs that have ended, which are removed when no run goes on.
///
/// Removing them makes a disk wait more often than all the rest of a short run (`discard`), and in a burst somebody waits
/// for the next verdict. They stay for some seconds at most, and not while they take much room.
actor Leftovers {
    private struct Leftover: Sendable {
        var since: ContinuousClock.Instant
        var remove: @Sendable () async -> Void
    }

    /// Between two looks whether a run goes on.
    private static let pause = Duration.milliseconds(100)
    static let most = 500
    private static let mostBytes = 1 << 30

    private let patience: Duration
    private let freeBytes: @Sendable () -> Int?
    private let isQuiet: @Sendable () -> Bool
    private var waiting: [Leftover] = []
    /// Bytes that were free when the first of those that wait came.
    private var freeBefore = 0
    private var isOver = false
    /// How many are being removed, and who waits for that.
    private var underway = 0
    private var closing: [CheckedContinuation<Void, Never>] = []
    private let news: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - patience: How long something stays while runs go on.
    ///   - freeBytes: What is free where the folders are.
    ///   - isQuiet: Whether no run goes on.
    init(
        patience: Duration = .seconds(5), freeBytes: @escaping @Sendable () -> Int?,
        isQuiet: @escaping @Sendable () -> Bool
    ) {
        self.patience = patience
        self.freeBytes = freeBytes
        self.isQuiet = isQuiet
        (news, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Has `remove` done later; false when there are too many, they take too much room, or it is all over: then the caller
    /// has to do it.
    func take(_ remove: @escaping @Sendable () async -> Void) -> Bool {
        guard !isOver, waiting.count < Leftovers.most else { return false }
        if waiting.isEmpty {
            freeBefore = freeBytes() ?? 0
        } else if hasGrown {
            return false
        }
        waiting.append(Leftover(since: .now, remove: remove))
        tell.yield()
        return true
    }

    /// Removes what comes until the task is cancelled; ``close()`` has the rest.
    func run() async {
        for await _ in news {
            while let oldest = waiting.first {
                if isQuiet() || isDue(oldest) {
                    await removeOldest()
                } else {
                    do { try await Task.sleep(for: Leftovers.pause) } catch { return }
                }
            }
        }
    }

    /// Removes all that waits.
    func removeAll() async { while !waiting.isEmpty { await removeOldest() } }

    /// Removes all that waits, waits for what is being removed, and takes nothing more.
    func close() async {
        isOver = true
        await removeAll()
        while underway > 0 { await withCheckedContinuation { closing.append($0) } }
    }

    private func removeOldest() async {
        guard !waiting.isEmpty else { return }
        let leftover = waiting.removeFirst()
        underway += 1
        await leftover.remove()
        underway -= 1
        guard underway == 0 else { return }
        for one in closing { one.resume() }
        closing = []
    }

    private var hasGrown: Bool { freeBytes().map { $0 < freeBefore - Leftovers.mostBytes } ?? false }

    private func isDue(_ leftover: Leftover) -> Bool {
        if leftover.since + patience < .now { return true }
        return hasGrown
    }
}
