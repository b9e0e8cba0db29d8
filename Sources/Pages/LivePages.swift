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

    struct Section: Sendable, Equatable {
        var id: String
        var html: [UInt8]
        /// The state of the page in which it became so.
        var version: Int
    }

    /// The newest state of a page.
    struct State: Sendable {
        var sections: [Section] = []
        var version = 0
        /// What it shows is over, so that it has another page now.
        var isOver = false
    }

    private struct Followed {
        var state = State()
        var readers = 0
        /// Whether a task renders it.
        var isProduced = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private struct Shared {
        var pages: [String: Followed] = [:]
        var next = 0
    }

    private let shared = Mutex(Shared())
    private let wanted: AsyncStream<PageRequest>
    private let want: AsyncStream<PageRequest>.Continuation

    init() { (wanted, want) = AsyncStream.makeStream() }

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
            for await request in wanted {
                let listener = news()
                group.addTask { await self.produce(request, listener, render) }
            }
            group.cancelAll()
        }
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
        let (isWanted, waiters) = shared.withLock { shared -> (Bool, [CheckedContinuation<Void, Never>]) in
            guard var followed = shared.pages[key], followed.readers > 0 else {
                shared.pages[key] = nil
                return (false, [])
            }
            guard let page else { return (true, []) }
            let old = Dictionary(followed.state.sections.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let version = followed.state.version + 1
            let sections = page.sections.map { section -> Section in
                let html = section.rendered.bytes
                if let same = old[section.id], same.html == html { return same }
                return Section(id: section.id, html: html, version: version)
            }
            guard sections != followed.state.sections || page.isOver != followed.state.isOver else { return (true, []) }
            followed.state = State(sections: sections, version: version, isOver: page.isOver)
            let waiters = Array(followed.waiters.values)
            followed.waiters = [:]
            shared.pages[key] = followed
            return (true, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return isWanted
    }

    private static func key(_ request: PageRequest) -> String {
        "\(request.reader.rawValue)\u{1}" + request.path.joined(separator: "\0") + "\u{1}"
            + request.query.sorted { $0.key < $1.key }.map { "\($0.key)\0\($0.value)" }.joined(separator: "\u{1}")
    }

    /// One who follows a page, as long as it exists.
    final class Follower: Sendable {
        private let pages: LivePages
        private let key: String
        private let seen = Mutex(0)

        fileprivate init(_ pages: LivePages, _ key: String) { (self.pages, self.key) = (pages, key) }

        deinit { pages.shared.withLock { $0.pages[key]?.readers -= 1 } }

        /// The newest state that it has not got yet; nil where nothing has changed for fifteen seconds, and when the
        /// task is cancelled.
        func next() async -> State? {
            let known = seen.withLock { $0 }
            await pages.wait(key, after: known)
            guard let state = pages.shared.withLock({ $0.pages[key]?.state }), state.version != known else {
                return nil
            }
            seen.withLock { $0 = state.version }
            return state
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

    private func wait(_ key: String, after version: Int) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForNews(key, after: version) }
            group.addTask { try? await Task.sleep(for: .seconds(15)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForNews(_ key: String, after version: Int) async {
        let number = shared.withLock { shared in
            shared.next += 1
            return shared.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = shared.withLock { shared in
                    if Task.isCancelled || shared.pages[key]?.state.version != version { return true }
                    shared.pages[key]?.waiters[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            shared.withLock { $0.pages[key]?.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
