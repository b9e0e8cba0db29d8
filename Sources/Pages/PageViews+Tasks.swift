import Control
import Foundation
import PageMarkup
import Reports
import Results
import Store
import Synchronization
import TaskPages
import TaskText

/// Tasks: the list, one of them, and the form of a new one.
extension PageViews {
    func tasks(_ request: PageRequest) async throws -> Page {
        let repository = request.value("repository")
        let before = request.value("before").flatMap(Int64.init)
        let most = 50
        let tasks = try await host.tasks(TaskFilter(repository: repository, before: before, limit: most))
        let older = tasks.count == most ? tasks.last?.id : nil
        return TaskList(tasks, of: repository).page(older: older, isFirst: before == nil)
    }

    func task(_ text: String, _ request: PageRequest) async throws -> Page {
        guard let id = TaskID(text), id > 0 else { throw PageProblem(.notFound, "there is no task \"\(text)\"") }
        let view = try await host.task(id)
        let story = TaskStory(view)
        var difference: String?
        if let made = story.offered {
            // Every second somebody follows the page, and a commit does not change.
            difference = await differences.text(of: made.commit) {
                try? await host.ask(.task(.difference(id, attempt: made.attempt))) {
                    if case .task(.difference(let text)) = $0 { text } else { nil }
                }
            }
        }
        return TaskPage(
            story, runs: view.runs.sorted { $0.id > $1.id }, difference: difference, for: request.reader
        ).page
    }

    func newTask(_ request: PageRequest) async throws -> Page {
        let watched = try await host.status().repositories.filter(\.isWatched).map(\.name)
        return TaskForm(watched, chosen: request.value("repository"), for: request.reader).page
    }

    /// The tasks that other pages show, the newest first; nil where there is none.
    func taskSection(_ title: String, _ tasks: [TaskRecord], showsRepository: Bool = false) -> Page.Section? {
        guard !tasks.isEmpty else { return nil }
        return .init("tasks", title, TaskPiece.cards(tasks, none: "", showsRepository: showsRepository))
    }

    /// Those of a repository that go on or wait.
    func openTasks(of repository: String) async throws -> [TaskRecord] {
        try await host.index.tasks(
            TaskFilter(repository: repository, states: Set(TaskState.all.filter { !$0.isEnded }), limit: 50))
    }
}

/// What commits of tasks change, kept for the pages that show it.
final class KeptDifferences: Sendable {
    private static let most = 30

    private let known = Mutex<[(commit: String, text: String)]>([])

    /// The difference of a commit; `make` makes it where it is not known.
    func text(of commit: String, _ make: () async throws -> String?) async rethrows -> String? {
        if let kept = known.withLock({ $0.first { $0.commit == commit }?.text }) { return kept }
        guard let text = try await make() else { return nil }
        known.withLock { known in
            known.removeAll { $0.commit == commit }
            known.append((commit, text))
            if known.count > Self.most { known.removeFirst() }
        }
        return text
    }
}

extension TaskStory {
    init(_ view: TaskView) {
        self.init(
            view.task, view.events, reviews: Set(view.runs.filter { $0.task?.part == .reviewing }.map(\.id)))
    }
}

extension PagesHost {
    func tasks(_ filter: TaskFilter) async throws -> [TaskRecord] {
        try await ask(.task(.list(filter))) { if case .task(.list(let tasks)) = $0 { tasks } else { nil } }
    }

    func task(_ id: TaskID) async throws -> TaskView {
        try await ask(.task(.show(id))) { if case .task(.task(let view)) = $0 { view } else { nil } }
    }
}
