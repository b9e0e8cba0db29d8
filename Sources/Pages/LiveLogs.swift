import Foundation
import Reports
import Results
import Synchronization

/// Live logs: each is read and rendered by one task, however many follow it, and only while somebody does.
///
/// The task keeps the newest pieces. A follower takes them at its own pace; one that falls behind them is taken ahead,
/// with a mark. No follower delays the step, the task, or another follower.
final class LiveLogs: Sendable {
    /// What followers get of one look at a log.
    struct Piece: Sendable {
        var from: LogLines.Mark
        var to: LogLines.Mark
        /// The data of an event with the lines.
        var data: Data
        /// The rules for the colours of all lines so far.
        var style: String
    }

    /// The newest pieces of a log.
    private struct Followed {
        var pieces: [Piece] = []
        /// The number of the first of ``pieces``.
        var first = 0
        var bytes = 0
        var isOver = false
        var readers = 0
        var isProduced = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

        var next: Int { first + pieces.count }
    }

    private struct Shared {
        var logs: [String: Followed] = [:]
        var nextWaiter = 0
        /// No log is read any more.
        var isClosed = false
    }

    /// What a follower finds that has seen all pieces before a number.
    enum News: Sendable {
        case piece(Piece, number: Int)
        case over
        /// The daemon shuts down.
        case closed
        /// Nothing came for fifteen seconds.
        case nothing
    }

    /// Bytes of the pieces that are kept of a log.
    private static let mostBytes = 1 << 20
    private static let mostPieces = 200

    private let shared = Mutex(Shared())
    private let wanted: AsyncStream<(source: LogSource, from: LogLines.Mark)>
    private let want: AsyncStream<(source: LogSource, from: LogLines.Mark)>.Continuation

    init() { (wanted, want) = AsyncStream.makeStream() }

    /// How many readers follow a log.
    var readers: Int { shared.withLock { $0.logs.values.reduce(0) { $0 + $1.readers } } }

    /// Whether a log is read, or is kept for those who follow it.
    func isRead(_ key: String) -> Bool { shared.withLock { $0.logs[key] != nil } }

    /// Reads logs that are followed until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await log in wanted {
                group.addTask {
                    var producer = LogProducer(source: log.source, logs: self, from: log.from)
                    if await producer.run() { self.finish(log.source.key) }
                }
            }
            group.cancelAll()
        }
        let waiting = shared.withLock { shared in
            shared.isClosed = true
            let waiting = shared.logs.values.flatMap(\.waiting.values)
            for key in shared.logs.keys { shared.logs[key]?.waiting = [:] }
            return waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    // MARK: The task that reads

    /// How many follow a log now.
    func readers(of key: String) -> Int { shared.withLock { $0.logs[key]?.readers ?? 0 } }

    /// Gives up a log that nobody follows.
    ///
    /// - Returns: Whether it was given up.
    func giveUp(_ key: String) -> Bool {
        shared.withLock { shared in
            guard (shared.logs[key]?.readers ?? 0) == 0 else { return false }
            shared.logs[key] = nil
            return true
        }
    }

    func add(_ piece: Piece, to key: String) {
        wake(key) { followed in
            followed.pieces.append(piece)
            followed.bytes += piece.data.count
            while followed.pieces.count > 1,
                followed.bytes > Self.mostBytes || followed.pieces.count > Self.mostPieces
            {
                followed.bytes -= followed.pieces.removeFirst().data.count
                followed.first += 1
            }
        }
    }

    private func finish(_ key: String) { wake(key) { $0.isOver = true } }

    private func wake(_ key: String, _ change: (inout Followed) -> Void) {
        let waiting = shared.withLock { shared -> [CheckedContinuation<Void, Never>] in
            guard shared.logs[key]?.isProduced == true else { return [] }
            change(&shared.logs[key, default: Followed()])
            defer { shared.logs[key]?.waiting = [:] }
            return shared.logs[key].map { Array($0.waiting.values) } ?? []
        }
        for waiter in waiting { waiter.resume() }
    }

    // MARK: Followers

    /// One who follows a log, as long as it exists.
    final class Follower: Sendable {
        private let logs: LiveLogs
        private let key: String

        fileprivate init(_ logs: LiveLogs, _ key: String) { (self.logs, self.key) = (logs, key) }

        deinit { logs.leave(key) }

        /// The first piece from the number `seen` on that ends at or behind `mark`.
        func next(_ seen: Int, from mark: LogLines.Mark) async -> News {
            let (news, known) = logs.look(key, seen, mark)
            if let news { return news }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.logs.wait(self.key, known) }
                group.addTask { try? await Task.sleep(for: .seconds(15)) }
                await group.next()
                group.cancelAll()
            }
            return logs.look(key, seen, mark).news ?? .nothing
        }
    }

    func follower(of source: LogSource, from mark: LogLines.Mark) -> Follower {
        let isNew = shared.withLock { shared in
            let isNew = shared.logs[source.key]?.isProduced != true
            shared.logs[source.key, default: Followed()].readers += 1
            shared.logs[source.key]?.isProduced = true
            return isNew
        }
        if isNew { want.yield((source, mark)) }
        return Follower(self, source.key)
    }

    private func leave(_ key: String) {
        shared.withLock { shared in
            shared.logs[key]?.readers -= 1
            // The task of a log that is over has ended.
            if let followed = shared.logs[key], followed.readers == 0, followed.isOver { shared.logs[key] = nil }
        }
    }

    /// What there is for a follower, and the number of the next piece.
    private func look(_ key: String, _ seen: Int, _ mark: LogLines.Mark) -> (news: News?, next: Int) {
        shared.withLock { shared in
            guard let followed = shared.logs[key] else { return (.over, 0) }
            let start = max(seen - followed.first, 0)
            for place in followed.pieces.indices.dropFirst(start)
            where followed.pieces[place].to.offset >= mark.offset {
                return (.piece(followed.pieces[place], number: followed.first + place), followed.next)
            }
            return (followed.isOver ? .over : shared.isClosed ? .closed : nil, followed.next)
        }
    }

    private func wait(_ key: String, _ known: Int) async {
        let number = shared.withLock { shared in
            shared.nextWaiter += 1
            return shared.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = shared.withLock { shared in
                    guard let followed = shared.logs[key], !followed.isOver, !shared.isClosed, !Task.isCancelled else {
                        return true
                    }
                    // A piece that came between the look and this wait.
                    if followed.next > known { return true }
                    shared.logs[key]?.waiting[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            shared.withLock { $0.logs[key]?.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}
