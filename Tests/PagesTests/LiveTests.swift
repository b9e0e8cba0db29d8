import PageMarkup
import Control
import Foundation
import Reports
import Results
import Synchronization
import TestSupport
import Testing

@testable import Pages

@Suite struct LivePagesTests {
    /// A page that tests change, and the number of times that it was rendered.
    private final class Shown: Sendable {
        let state = Mutex<(texts: [String], isOver: Bool)>((["first"], false))
        let renders = Mutex(0)
        private let news = Mutex<[CheckedContinuation<Void, Never>]>([])

        func page() -> Page {
            renders.withLock { $0 += 1 }
            let (texts, isOver) = state.withLock { $0 }
            var page = Page("t", command: "c", texts.enumerated().map { .init("s\($0)", "", "<p>\($1)</p>") })
            page.isOver = isOver
            return page
        }
    }

    private static func request(_ path: String = "/") throws -> PageRequest {
        try #require(PageRequest(method: "GET", target: path, headers: [:]))
    }

    /// The next piece that is more than a sign of life, which a reader also gets where the machine is slow.
    private static func event(_ pieces: inout any PagePieces) async throws -> String {
        while true {
            let text = String(decoding: try #require(try await pieces.next()), as: UTF8.self)
            if text != ": nothing new\n\n" { return text }
        }
    }

    /// Runs `body` while pages are rendered.
    private func rendering(
        _ shown: Shown, _ body: (LivePages) async throws -> Void
    ) async throws {
        let live = LivePages()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await live.run(news: { { try? await Task.sleep(for: .milliseconds(20)) } }) { _ in shown.page() }
            }
            try await body(live)
            group.cancelAll()
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a reader gets the page, then only what changes`() async throws {
        let shown = Shown()
        shown.state.withLock { $0.texts = ["a", "b"] }
        try await rendering(shown) { live in
            var pieces = SectionStream(page: try Self.request(), live: live).pieces()
            _ = try await pieces.next()
            let first = try await Self.event(&pieces)
            #expect(first.components(separatedBy: "event: section").count == 3)
            shown.state.withLock { $0.texts[1] = "c" }
            let second = try await Self.event(&pieces)
            #expect(second.contains("s1") && second.contains("<p>c") && !second.contains("<p>a"))
            shown.state.withLock { _ = $0.texts.removeLast() }
            let third = try await Self.event(&pieces)
            #expect(third.contains("event: gone") && third.contains("data: s1"))
            shown.state.withLock { $0.isOver = true }
            let last = try await Self.event(&pieces)
            #expect(last.contains("event: over"))
            #expect(try await pieces.next() == nil)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a page is rendered once for all its readers, and not without one`()
        async throws
    {
        let shown = Shown()
        let start = ContinuousClock.now
        try await rendering(shown) { live in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        var pieces = SectionStream(page: try Self.request(), live: live).pieces()
                        _ = try await pieces.next()
                        _ = try await pieces.next()
                    }
                }
                try await group.waitForAll()
            }
            // There is a pause after each time, and a page that was given up meanwhile is rendered once more.
            let pauses = (ContinuousClock.now - start) / .milliseconds(200)
            #expect(Double(shown.renders.withLock { $0 }) <= 2 * pauses + 2)
            #expect(live.readers == 0)
            // A later reader is served again, whether the page was given up meanwhile or not.
            var pieces = SectionStream(page: try Self.request(), live: live).pieces()
            _ = try await pieces.next()
            let first = try await Self.event(&pieces)
            #expect(first.contains("first"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a slow reader gets the newest state and holds nobody up`() async throws {
        let shown = Shown()
        try await rendering(shown) { live in
            var (slow, quick) = (
                SectionStream(page: try Self.request(), live: live).pieces(),
                SectionStream(page: try Self.request(), live: live).pieces()
            )
            _ = try await slow.next()
            _ = try await quick.next()
            #expect(try await Self.event(&quick).contains("first"))
            for number in 0..<3 {
                shown.state.withLock { $0.texts = ["state \(number)"] }
                let piece = try await Self.event(&quick)
                #expect(piece.contains("state \(number)"))
            }
            let late = try await Self.event(&slow)
            #expect(late.contains("state 2") && !late.contains("state 1"))
        }
    }
}
