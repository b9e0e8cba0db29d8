import PageMarkup
import Reports
import Foundation
import Synchronization

/// Live pages: each is rendered by one task, however many readers follow it, and only while somebody does.
///
/// A reader that is slow skips states: it gets the newest sections when it can take them. It never delays the task that
/// renders, nor another reader.
final class LivePages: Sendable {
    /// The shortest time between two states of a page.
    static let pause = Duration.milliseconds(200)
    /// A page is made anew after this time without news: the newest line of a step is no news.
    static let longestPause = Duration.seconds(1)

    /// A reader that nothing was sent to for this time gets a sign of life.
    static let quietSeconds = 15

    struct Section: Sendable {
        var id: String
        var html: [UInt8]
        /// The section before it.
        var after: String?
        /// The state of the page in which it became so.
        var version: Int
        /// The event that tells a reader of it, made once for all of them.
        var event: [UInt8]
    }

    /// The newest state of a page.
    struct State: Sendable {
        var sections: [Section] = []
        /// The events about sections that are gone, and the states since which they are, by their ids.
        var gone: [String: (version: Int, event: [UInt8])] = [:]
        var version = 0
        /// What it shows is over, so that it has another page now.
        var isOver = false

        /// What a reader must be told who has the state `seen`; 0 is none.
        func events(since seen: Int) -> [UInt8] {
            // The browser loads the page that is there now.
            if isOver { return SectionPieces.event("over", Data(), id: "\(version)") }
            var events: [UInt8] = []
            for section in sections where section.version > seen { events += section.event }
            for (_, gone) in gone.sorted(by: { $0.key < $1.key }) where seen > 0 && gone.version > seen {
                events += gone.event
            }
            return events
        }

        /// This state with the sections of a page that was made anew; nil where that changes nothing.
        func with(_ page: Page) throws -> State? {
            let old = Dictionary(sections.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            var new = self
            (new.version, new.sections, new.isOver) = (version + 1, [], page.isOver)
            var before: String?
            for section in page.sections {
                let html = section.rendered.bytes
                if let same = old[section.id], same.html == html, same.after == before {
                    new.sections.append(same)
                } else {
                    let news = SectionNews(id: section.id, html: String(decoding: html, as: UTF8.self), after: before)
                    new.sections.append(
                        Section(
                            id: section.id, html: html, after: before, version: new.version,
                            event: SectionPieces.event(
                                "section", try JSONEncoder().encode(news), id: "\(new.version)")))
                }
                new.gone[section.id] = nil
                before = section.id
            }
            for id in Set(old.keys).subtracting(new.sections.map(\.id)) {
                new.gone[id] = (new.version, SectionPieces.event("gone", Data(id.utf8), id: "\(new.version)"))
            }
            let isSame =
                new.sections.allSatisfy { $0.version <= version } && new.gone.count == gone.count
                && new.sections.count == sections.count && new.isOver == isOver
            return isSame ? nil : new
        }
    }

    /// The data of an event about a section.
    private struct SectionNews: Encodable {
        var id: String
        var html: String
        /// The section before it.
        var after: String?
    }

    fileprivate struct Followed {
        var state = State()
        var readers = 0
        /// Whether a task renders it.
        var isProduced = false
        /// Those that wait, by their numbers, in a part for each second in which they get a sign of life.
        var waiters = [Waiters](repeating: [:], count: LivePages.quietSeconds)
    }

    fileprivate typealias Waiters = [Int: CheckedContinuation<Void, Never>]

    fileprivate struct Shared {
        var pages: [String: Followed] = [:]
        var next = 0
        /// No page is rendered any more.
        var isClosed = false
    }

    private let shared = Mutex(Shared())
    private let wanted: AsyncStream<PageRequest>
    private let want: AsyncStream<PageRequest>.Continuation

    init() { (wanted, want) = AsyncStream.makeStream() }

    /// Whether somebody follows this page, so that it is there.
    func isShown(_ request: PageRequest) -> Bool {
        let key = Self.key(request)
        return shared.withLock { ($0.pages[key]?.state.version ?? 0) > 0 }
    }

    /// How many readers follow a page.
    var readers: Int { shared.withLock { $0.pages.values.reduce(0) { $0 + $1.readers } } }

    /// Renders followed pages until the task is cancelled.
    ///
    /// - Parameters:
    ///   - news: Makes a listener for news.
    ///   - render: The page of a request; nil where there is none.
    func run(
        news: @Sendable () -> @Sendable () async -> Void,
        render: @escaping @Sendable (PageRequest) async throws -> Page?
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.wakeQuietReaders() }
            for await request in wanted {
                let listener = news()
                group.addTask { await self.produce(request, listener, render) }
            }
            group.cancelAll()
        }
        wake { shared in
            shared.isClosed = true
            return shared.pages.keys.flatMap { shared.takeWaiters(of: $0) }
        }
    }

    /// Wakes each reader once in ``quietSeconds``, a part of them every second, so that they get a sign of life.
    private func wakeQuietReaders() async {
        var turn = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            turn = (turn + 1) % Self.quietSeconds
            wake { [turn] shared in
                shared.pages.keys.map { shared.takeWaiters(of: $0, in: turn) }
            }
        }
    }

    /// - Parameter choose: It is called with the lock, so it must not take longer because there are many.
    private func wake(_ choose: (inout Shared) -> [Waiters]) {
        for waiters in shared.withLock({ choose(&$0) }) { for waiter in waiters.values { waiter.resume() } }
    }

    private func produce(
        _ request: PageRequest, _ news: @escaping @Sendable () async -> Void,
        _ render: @Sendable (PageRequest) async throws -> Page?
    ) async {
        let key = Self.key(request)
        while !Task.isCancelled {
            let page = try? await render(request)
            let isWanted = update(key, page)
            guard isWanted else { return }
            do { try await Task.sleep(for: Self.pause) } catch { return }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await news() }
                group.addTask { try? await Task.sleep(for: Self.longestPause) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Takes a new state of a page; false where nobody follows it any more.
    private func update(_ key: String, _ page: Page?) -> Bool {
        let (isWanted, state) = shared.withLock { shared -> (Bool, State) in
            guard let followed = shared.pages[key], followed.readers > 0 else {
                shared.pages[key] = nil
                return (false, State())
            }
            return (true, followed.state)
        }
        // Only this task changes the state.
        guard isWanted, let page, let new = try? state.with(page) else { return isWanted }
        wake { shared in
            shared.pages[key]?.state = new
            return shared.takeWaiters(of: key)
        }
        return true
    }

    private static func key(_ request: PageRequest) -> String {
        "\(request.reader.rawValue)\u{1}" + request.path.joined(separator: "\0") + "\u{1}"
            + request.query.sorted { $0.key < $1.key }.map { "\($0.key)\0\($0.value)" }.joined(separator: "\u{1}")
    }

    /// One who follows a page, as long as it exists.
    final class Follower: Sendable {
        private let pages: LivePages
        private let key: String
        private let seen = Mutex((version: 0, isOver: false))

        fileprivate init(_ pages: LivePages, _ key: String) { (self.pages, self.key) = (pages, key) }

        deinit { pages.shared.withLock { $0.pages[key]?.readers -= 1 } }

        /// What the reader must be told next: empty where nothing has changed for a while, nil at the end.
        func next() async throws -> [UInt8]? {
            let known = seen.withLock { $0 }
            guard !known.isOver else { return nil }
            await pages.wait(key, after: known.version)
            try Task.checkCancellation()
            let (state, isClosed) = pages.shared.withLock { ($0.pages[key]?.state, $0.isClosed) }
            guard let state, state.version != known.version else { return isClosed ? nil : [] }
            seen.withLock { $0 = (state.version, state.isOver) }
            return state.events(since: known.version)
        }
    }

    func follower(of request: PageRequest) -> Follower {
        let key = Self.key(request)
        let isNew = shared.withLock { shared in
            let isNew = shared.pages[key]?.isProduced != true
            shared.pages[key, default: Followed()].readers += 1
            shared.pages[key]?.isProduced = true
            return isNew
        }
        if isNew { want.yield(request) }
        return Follower(self, key)
    }

    /// Waits for another state than `version`, a turn of the signs of life, or cancellation.
    private func wait(_ key: String, after version: Int) async {
        let number = shared.withLock { shared in
            shared.next += 1
            return shared.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = shared.withLock { shared in
                    if Task.isCancelled || shared.isClosed || shared.pages[key]?.state.version != version {
                        return true
                    }
                    shared.pages[key]?.waiters[number % Self.quietSeconds][number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            shared.withLock { $0.pages[key]?.waiters[number % Self.quietSeconds].removeValue(forKey: number) }?.resume()
        }
    }
}

extension LivePages.Shared {
    /// Takes out all who wait for a page.
    fileprivate mutating func takeWaiters(of key: String) -> [LivePages.Waiters] {
        (0..<LivePages.quietSeconds).map { takeWaiters(of: key, in: $0) }
    }

    /// Takes out those who wait for a page and get a sign of life in this second.
    fileprivate mutating func takeWaiters(of key: String, in turn: Int) -> LivePages.Waiters {
        guard pages[key] != nil else { return [:] }
        return pages[key, default: LivePages.Followed()].waiters[turn].taken()
    }
}

extension Dictionary {
    /// The content, which is gone from here.
    fileprivate mutating func taken() -> Self {
        defer { self = [:] }
        return self
    }
}
