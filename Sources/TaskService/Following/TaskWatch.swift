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
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await repeatedly {
                    if (try? await index.setOpenTasksDue()) != nil { await coordinator.settle() }
                }
            }
            // The line of a repository may take minutes, for which no task must wait.
            group.addTask { await repeatedly { await teller.tell() } }
            await group.waitForAll()
        }
    }

    /// Does the same whenever there is news, and now and then.
    private func repeatedly(_ body: () async -> Void) async {
        while !Task.isCancelled {
            let mark = news.mark(of: [])
            await body()
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
