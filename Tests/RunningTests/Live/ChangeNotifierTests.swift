import Testing
@testable import Running

struct ChangeNotifierTests {
    @Test(.timeLimit(.minutes(1)))
    func `news between the look and the wait is not missed`() async {
        let desk = ChangeNotifier()
        let mark = desk.mark(of: [1])
        desk.tell(1)
        await desk.wait(since: mark)
        let again = desk.mark(of: [1])
        desk.tellAll()
        await desk.wait(since: again)
    }

    @Test(.timeLimit(.minutes(1)))
    func `news of other runs wakes nobody`() async {
        let desk = ChangeNotifier()
        let mark = desk.mark(of: [1])
        desk.tell(2)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await desk.wait(since: mark)
                return !Task.isCancelled
            }
            group.addTask {
                // Of two who wait the other one is woken, which it could only be once it waits.
                let other = desk.mark(of: [2])
                desk.tell(2)
                await desk.wait(since: other)
                return false
            }
            #expect(await group.next() == false)
            group.cancelAll()
            #expect(await group.next() == false, "it was cancelled, not woken")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `every waiter is woken when any run begins or ends`() async {
        let desk = ChangeNotifier()
        let marks = (1...100).map { desk.mark(of: [$0]) }
        await withTaskGroup(of: Void.self) { group in
            for mark in marks { group.addTask { await desk.wait(since: mark) } }
            desk.tellAll()
            await group.waitForAll()
        }
    }
}
