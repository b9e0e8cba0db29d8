import Foundation
import Pipeline
import Results
import Store
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct TaskTests {
    private static func task(_ key: String, crash signature: String? = nil) -> TaskRecord {
        var task = TaskRecord(
            id: 0, repository: "shop", branch: "main", title: "It crashes", text: "Please mend it.", source: .person,
            reporter: "ada", key: key, createdAt: Date(timeIntervalSince1970: 0), commit: "c0",
            rules: TasksDeclaration(
                branch: "main", agents: [AgentCommand("one", plan: "p", work: "w")], workflows: ["test"]))
        task.crash = signature.map { TaskCrash(signature: $0, title: "It crashes") }
        return task
    }

    private static func index() throws -> Index { try Index.inMemory(now: { Date(timeIntervalSince1970: 5_000) }) }

    @Test func `the same work is one task`() async throws {
        let index = try Self.index()
        let first = try await index.addTask(Self.task("issue 1"), context: "code", by: "ada")
        let second = try await index.addTask(Self.task("issue 1"), by: "bob")
        let other = try await index.addTask(Self.task("issue 2"))
        #expect(first.isNew && !second.isNew && other.isNew)
        #expect(second.task == first.task && other.task.id != first.task.id)
        #expect(try await index.task(withKey: "issue 1", repository: "shop")?.id == first.task.id)
        #expect(try await index.task(withKey: "issue 1", repository: "other") == nil)
        #expect(try await index.taskContext(first.task.id) == "code")
        let events = try await index.taskEvents(of: first.task.id)
        #expect(events.map(\.what) == [.created] && events.map(\.by) == ["ada"])
    }

    @Test func `events have numbers without gaps, and change the record with them`() async throws {
        let index = try Self.index()
        let id = try await index.addTask(Self.task("a")).task.id
        try await index.appendTaskEvent(.remark(text: "smaller"), to: id, by: "ada")
        let event = try await index.appendTaskEvent(.landingAsked, to: id, expecting: [.planning]) {
            $0.state = .landing
        }
        #expect(event?.number == 3)
        #expect(try await index.task(id)?.state == .landing)
        // Somebody was faster.
        #expect(try await index.appendTaskEvent(.landingAsked, to: id, expecting: [.planning]) == nil)
        #expect(try await index.taskEvents(of: id).map(\.number) == [1, 2, 3])
    }

    @Test func `events that come at the same time get different numbers`() async throws {
        let index = try Self.index()
        let id = try await index.addTask(Self.task("a")).task.id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await index.appendTaskEvent(.remark(text: "\(number)"), to: id) }
            }
            try await group.waitForAll()
        }
        #expect(try await index.taskEvents(of: id).map(\.number) == Array(1...51))
    }

    @Test func `a report is counted once`() async throws {
        let index = try Self.index()
        let id = try await index.addTask(Self.task("report 1", crash: "ab")).task.id
        for _ in 0..<2 {
            try await index.appendTaskEvent(.seenAgain(count: 2, release: nil), to: id, key: "report 2") {
                $0.crash?.count += 1
            }
        }
        #expect(try await index.task(id)?.crash?.count == 2)
        #expect(try await index.task(withCrash: "ab", repository: "shop")?.id == id)
        #expect(try await index.task(withKey: "report 2", repository: "shop")?.id == id)
        let newer = try await index.addTask(Self.task("report 3", crash: "ab")).task.id
        #expect(try await index.task(withCrash: "ab", repository: "shop")?.id == newer)
    }

    @Test func `what happens makes a task due`() async throws {
        let index = try Self.index()
        let id = try await index.addTask(Self.task("a")).task.id
        #expect(try await index.dueTasks() == [id])
        try await index.setTaskDue(id, at: nil)
        #expect(try await index.dueTasks().isEmpty)
        try await index.appendTaskEvent(.remark(text: "smaller"), to: id)
        #expect(try await index.dueTasks() == [id])
        try await index.setTaskDue(id, at: Date(timeIntervalSince1970: 6_000))
        #expect(try await index.dueTasks().isEmpty)
        try await index.setOpenTasksDue()
        #expect(try await index.dueTasks() == [id])
        try await index.updateTask(id) { $0.state = .cancelled }
        try await index.setTaskDue(id, at: nil)
        try await index.setOpenTasksDue()
        #expect(try await index.dueTasks().isEmpty)
    }

    @Test func `a run's end makes its task due, and the run says what it is for`() async throws {
        let index = try Self.index()
        let id = try await index.addTask(Self.task("a")).task.id
        try await index.setTaskDue(id, at: nil)
        let role = TaskRole(task: id, part: .planning, attempt: 1, agent: "one")
        var request = RunRequest(
            repository: "shop", workflow: "test", event: .manual, ref: "refs/heads/main", branch: "main",
            head: Sample.commit(1), definitionCommit: Sample.commit(1), kind: .task(role), nonce: role.nonce,
            subject: "task \(id)",
            concurrency: .queue(max: 10))
        let run = try await index.enqueue(request).run.id
        #expect(try await index.enqueue(request).isNew == false)
        request.kind = .manual
        request.nonce = "by hand"
        _ = try await index.enqueue(request)
        #expect(try await index.taskRuns(of: id).map(\.id) == [run])
        #expect(try await index.runs().compactMap(\.task) == [role])
        #expect(try await index.cancelQueued(run, reason: "never mind"))
        #expect(try await index.dueTasks() == [id])
    }

    @Test func `tasks are listed by repository and state, newest first`() async throws {
        let index = try Self.index()
        let ids = try await (index.addTask(Self.task("a")).task.id, index.addTask(Self.task("b")).task.id)
        try await index.updateTask(ids.0) { ($0.state, $0.change) = (.ready, "pipectl/task-1") }
        #expect(try await index.tasks().map(\.id) == [ids.1, ids.0])
        #expect(try await index.tasks(TaskFilter(states: [.ready])).map(\.id) == [ids.0])
        #expect(try await index.tasks(TaskFilter(repository: "other")).isEmpty)
        #expect(try await index.tasks(TaskFilter(before: ids.1, limit: 5)).map(\.id) == [ids.0])
        #expect(try await index.task(withChange: "pipectl/task-1", repository: "shop")?.id == ids.0)
    }
}
