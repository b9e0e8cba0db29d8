import Foundation
import Logging
import Pipeline
import Results
import Store
import TestBasics
import Testing

@testable import TaskService

/// What forges are told of tasks, from what is recorded.
@Suite struct ForgeTellerTests {
    private func task(_ source: TaskSource, change: String? = nil) -> TaskRecord {
        var task = TaskRecord(
            id: 0, repository: "shop", branch: "main", title: "Mend it", text: "It crashes", source: source,
            reporter: "ada", key: "\(source) \(change ?? "")", createdAt: Date(),
            commit: String(repeating: "a", count: 40),
            rules: TasksDeclaration(
                branch: "main", agents: [AgentCommand("robo", plan: "p", work: "w")], workflows: ["test"]))
        task.change = change
        return task
    }

    private func things(_ index: Store.Index) async throws -> [String: String] {
        Dictionary(
            try await index.openForgeItems(of: "shop").map { ($0.thing, $0.wanted) }, uniquingKeysWith: { $1 })
    }

    @Test(.timeLimit(.minutes(1))) func `an issue and a change are told the newest state, and the same is told once`()
        async throws
    {
        let index = try Store.Index.inMemory()
        try await index.connectForge("shop", address: "{}", location: "/shop")
        let asked = try await index.addTask(task(.issue(number: 9))).task
        _ = try await index.addTask(task(.person))
        let opened = try await index.addTask(task(.person, change: "14")).task
        let teller = ForgeTeller(index: index, log: Logger(label: "test"))
        var told: [TaskID: TaskRecord] = [:]
        try await teller.tell(&told)
        // A task of a person without a change has nowhere to be told.
        #expect(Set(try await things(index).keys) == ["task \(asked.id) at issue 9", "text 14"])
        let versions = try await index.openForgeItems(of: "shop").map(\.version)
        // Another process knows nothing of what was told, and tells nothing new.
        var none: [TaskID: TaskRecord] = [:]
        try await teller.tell(&none)
        #expect(try await index.openForgeItems(of: "shop").map(\.version) == versions)

        let plan = TaskPlan(version: 1, summary: "Check it", approach: "x", files: [], tests: [], tradeoffs: "")
        try await index.appendTaskEvent(.planned(plan: plan, run: 4), to: asked.id) { $0.state = .planWaits }
        try await teller.tell(&told)
        try await teller.tell(&none)
        let note = try #require(try await things(index)["task \(asked.id) at issue 9"])
        #expect(note.contains("approve plan 1"))
        func isTold(_ event: TaskEvent) -> Bool { if case .told = event.what { true } else { false } }
        #expect(try await index.taskEvents(of: asked.id).count(where: isTold) == 1)
        #expect(try await index.taskEvents(of: opened.id).count(where: isTold) == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `where no forge is connected, nothing is told`() async throws {
        let index = try Store.Index.inMemory()
        try await index.connectForge("shop", address: "{}", location: "/shop")
        #expect(try await index.disconnectForge("shop"))
        let asked = try await index.addTask(task(.issue(number: 9))).task
        var told: [TaskID: TaskRecord] = [:]
        try await ForgeTeller(index: index, log: Logger(label: "test")).tell(&told)
        #expect(try await things(index).isEmpty && told[asked.id] != nil)
    }
}
