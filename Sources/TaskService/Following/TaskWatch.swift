import Running
import Store

/// Looks at open tasks whenever something has happened that no run of theirs tells: their changes, merge queues,
/// releases and deliveries.
package struct TaskWatch: Sendable {
    let index: Store.Index
    let coordinator: TaskCoordinator
    let teller: TaskTeller
    let news: ChangeNotifier

    /// Deliveries and the ends of releases make no news of their own.
    private static let longest = Duration.seconds(15)
    private static let shortest = Duration.milliseconds(300)

    /// Runs until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            let mark = news.mark(of: [])
            if (try? await index.setOpenTasksDue()) != nil { await coordinator.settle() }
            await teller.tell()
            await withTaskGroup(of: Void.self) { [news] group in
                group.addTask { await news.wait(since: mark) }
                group.addTask { try? await Task.sleep(for: Self.longest) }
                await group.next()
                group.cancelAll()
            }
            try? await Task.sleep(for: Self.shortest)
        }
    }
}
