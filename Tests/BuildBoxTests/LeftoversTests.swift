import Synchronization
import Testing

@testable import BuildBox

@Suite(.timeLimit(.minutes(1)))
struct LeftoversTests {
    private func sweeping(_ leftovers: Leftovers, _ body: () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await leftovers.run() }
            await body()
            group.cancelAll()
        }
    }

    @Test func areRemovedAsTheyCome() async {
        let leftovers = Leftovers()
        let (removed, remove) = AsyncStream<Int>.makeStream()
        await sweeping(leftovers) {
            var numbers = removed.makeAsyncIterator()
            for number in 1...3 {
                #expect(await leftovers.take { remove.yield(number) })
                #expect(await numbers.next() == number)
            }
        }
    }

    @Test func areNotMoreThanSome() async {
        let leftovers = Leftovers()
        let count = Mutex(0)
        for _ in 0..<Leftovers.most { #expect(await leftovers.take { count.withLock { $0 += 1 } }) }
        #expect(await leftovers.take { count.withLock { $0 += 1 } } == false)
        #expect(count.withLock { $0 } == 0)
        await leftovers.removeAll()
        #expect(count.withLock { $0 } == Leftovers.most)
        #expect(await leftovers.take {})
    }

    @Test func areAllGoneWhenItIsClosed() async {
        let leftovers = Leftovers()
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
