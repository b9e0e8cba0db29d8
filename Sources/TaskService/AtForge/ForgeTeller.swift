import Control
import DaemonLog
import Foundation
import Forges
import Logging
import Results
import Running
import Store

/// Keeps what forges say about tasks: the comment at a task's issue, and the text of its change. It reads the recorded
/// facts, so a restart misses nothing, and what is said already is not said again.
struct ForgeTeller: Sendable {
    /// Tasks that are looked at, the newest ones.
    static let most = 500
    /// The shortest time between two looks, and the longest.
    static let (shortest, longest) = (Duration.seconds(1), Duration.seconds(60))

    let index: Store.Index
    let log: Logger

    /// Runs until the task is cancelled.
    func run(_ news: ChangeNotifier) async {
        var told: [TaskID: TaskRecord] = [:]
        while !Task.isCancelled {
            let mark = news.mark(of: [])
            do {
                try await tell(&told)
            } catch is CancellationError {
                return
            } catch {
                log.warning("what happened to tasks is not told at forges: \(error)", metadata: .code(.taskFailed))
            }
            try? await Task.sleep(for: Self.shortest)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await news.wait(since: mark) }
                group.addTask { try? await Task.sleep(for: Self.longest) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Says what is new since `told`.
    func tell(_ told: inout [TaskID: TaskRecord]) async throws {
        let tasks = try await index.tasks(TaskFilter(limit: Self.most))
        for task in tasks where told[task.id] != task {
            try await tell(task)
            told[task.id] = task
        }
        let known = Set(tasks.map(\.id))
        told = told.filter { known.contains($0.key) }
    }

    private func tell(_ task: TaskRecord) async throws {
        let number = task.change.flatMap { Int($0) }
        guard task.issue != nil || number != nil else { return }
        let words = TaskMarkdown(task: task, events: try await index.taskEvents(of: task.id))
        if let number {
            try await ForgeChangeText(change: number, title: words.title, body: words.body)
                .want(in: task.repository, index)
        }
        guard let issue = task.issue else { return }
        let note = words.note
        try await IssueNote(issue: issue, task: task.id, body: note.body, isNews: note.isNews)
            .want(in: task.repository, index)
        guard Self.toldStates.contains(task.state) else { return }
        try await index.appendTaskEvent(
            .told(what: "issue #\(issue): \(task.state.title)"), to: task.id,
            key: "told \(task.id) \(task.state.rawValue) \(task.reopened)")
    }

    /// What a reporter waits for.
    private static let toldStates: Set<TaskState> = [
        .planWaits, .ready, .landed, .released, .delivered, .refused, .cancelled, .givenUp, .answered,
    ]
}

extension TaskRecord {
    /// The issue that it is about.
    fileprivate var issue: Int? { if case .issue(let number) = source { number } else { nil } }
}
