import Synchronization
import Testing

@testable import StateFiles

@Suite(.timeLimit(.minutes(1)))
struct DirectoryReaperTests {
    private func sweeping(_ reaper: DirectoryReaper, _ body: () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reaper.run() }
            await body()
            group.cancelAll()
        }
    }

    @Test func `directories are removed as they come`() async {
        let reaper = DirectoryReaper()
        let (removed, remove) = AsyncStream<Int>.makeStream()
        await sweeping(reaper) {
            var numbers = removed.makeAsyncIterator()
            for number in 1...3 {
                #expect(await reaper.add { remove.yield(number) })
                #expect(await numbers.next() == number)
            }
        }
    }

    @Test func `a full queue accepts nothing more`() async {
        let reaper = DirectoryReaper()
        let count = Mutex(0)
        for _ in 0..<DirectoryReaper.capacity { #expect(await reaper.add { count.withLock { $0 += 1 } }) }
        #expect(await reaper.add { count.withLock { $0 += 1 } } == false)
        #expect(count.withLock { $0 } == 0)
        await reaper.removeAll()
        #expect(count.withLock { $0 } == DirectoryReaper.capacity)
        #expect(await reaper.add {})
    }

    @Test func `closing waits for all removals and accepts nothing more`() async {
        let reaper = DirectoryReaper()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        await sweeping(reaper) {
            #expect(
                await reaper.add {
                    begin.yield()
                    for await _ in ends { break }
                    count.withLock { $0 += 1 }
                })
            for await _ in begun { break }
            #expect(await reaper.add { count.withLock { $0 += 1 } })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await reaper.close() }
                end.yield()
            }
            #expect(count.withLock { $0 } == 2)
            #expect(await reaper.add {} == false)
        }
    }
}
