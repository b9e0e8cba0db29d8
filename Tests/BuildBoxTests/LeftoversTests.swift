import Synchronization
import Testing

@testable import BuildBox

@Suite(.timeLimit(.minutes(1)))
struct LeftoversTests {
    /// What goes on beside, and what was removed meanwhile.
    private final class Scene: Sendable {
        let isQuiet = Mutex(false)
        let free = Mutex(10 << 30)
        let looks: AsyncStream<Void>
        private let look: AsyncStream<Void>.Continuation
        /// Whether it was quiet when something was removed.
        let removed: AsyncStream<Bool>
        private let remove: AsyncStream<Bool>.Continuation

        init() {
            (looks, look) = AsyncStream.makeStream()
            (removed, remove) = AsyncStream.makeStream()
        }

        func leftovers(patience: Duration = .seconds(600)) -> Leftovers {
            Leftovers(patience: patience) {
                self.free.withLock { $0 }
            } isQuiet: {
                self.look.yield()
                return self.isQuiet.withLock { $0 }
            }
        }

        func noteRemoval() { remove.yield(isQuiet.withLock { $0 }) }
    }

    private let scene = Scene()

    private func sweeping(_ leftovers: Leftovers, _ body: () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await leftovers.run() }
            await body()
            group.cancelAll()
        }
    }

    @Test func stayWhileRunsGoOn() async {
        let leftovers = scene.leftovers()
        await sweeping(leftovers) {
            #expect(await leftovers.take { scene.noteRemoval() })
            var looks = scene.looks.makeAsyncIterator()
            for _ in 0..<3 { await looks.next() }
            scene.isQuiet.withLock { $0 = true }
            var removed = scene.removed.makeAsyncIterator()
            #expect(await removed.next() == true)
            // And at once what comes when it is quiet.
            #expect(await leftovers.take { scene.noteRemoval() })
            #expect(await removed.next() == true)
        }
    }

    @Test func goAfterSomeTimeAllTheSame() async {
        let leftovers = scene.leftovers(patience: .milliseconds(10))
        await sweeping(leftovers) {
            for _ in 0..<3 { #expect(await leftovers.take { scene.noteRemoval() }) }
            var removed = scene.removed.makeAsyncIterator()
            for _ in 0..<3 { #expect(await removed.next() == false) }
        }
    }

    @Test func goWhenTheyTakeMuchRoom() async {
        let leftovers = scene.leftovers()
        await sweeping(leftovers) {
            #expect(await leftovers.take { scene.noteRemoval() })
            var looks = scene.looks.makeAsyncIterator()
            for _ in 0..<2 { await looks.next() }
            scene.free.withLock { $0 = 8 << 30 }
            var removed = scene.removed.makeAsyncIterator()
            #expect(await removed.next() == false)
        }
    }

    @Test func areNotMoreThanSome() async {
        let leftovers = scene.leftovers()
        let count = Mutex(0)
        for _ in 0..<Leftovers.most { #expect(await leftovers.take { count.withLock { $0 += 1 } }) }
        #expect(await leftovers.take { count.withLock { $0 += 1 } } == false)
        #expect(count.withLock { $0 } == 0)
        await leftovers.removeAll()
        #expect(count.withLock { $0 } == Leftovers.most)
        #expect(await leftovers.take {})
    }

    @Test func areNotTakenWhenTheyTakeMuchRoom() async {
        let leftovers = scene.leftovers()
        #expect(await leftovers.take {})
        scene.free.withLock { $0 = 8 << 30 }
        #expect(await leftovers.take {} == false)
        await leftovers.removeAll()
        #expect(await leftovers.take {})
    }

    @Test func areAllGoneWhenItIsClosed() async {
        let leftovers = scene.leftovers(patience: .zero)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        await sweeping(leftovers) {
            #expect(
                await leftovers.take {
                    begin.yield()
                    for await _ in ends { break }
                    count.withLock { $0 += 1 }
                })
            for await _ in begun { break }
            #expect(await leftovers.take { count.withLock { $0 += 1 } })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await leftovers.close() }
                end.yield()
            }
            #expect(count.withLock { $0 } == 2)
            #expect(await leftovers.take {} == false)
        }
    }
}
