import Archive
import Control
import Delivery
import ForgeConnection
import Forges
import Foundation
import Logging
import Pipeline
import Results
import Running
import RunSamples
import Store
import SystemPackage
import TestBasics
import Watching

@testable import TaskService

/// What people and sources ask of tasks, over an index in memory and a repository whose target declares what a test says.
struct TaskBench {
    let folder: TemporaryFolder
    let index: Store.Index
    let requests: TaskRequests
    let sources: TaskSources
    let commit: String
    static let log = Logger(label: "test")

    init(_ change: @Sendable (inout TasksDeclaration) -> Void = { _ in }) async throws {
        folder = try TemporaryFolder(.disk)
        let repository = try await TestRepository.make(at: folder["alpha"])
        let commit = try await repository.commit(["file": "content\n"], "First")
        self.commit = commit
        let index = try Store.Index.inMemory()
        self.index = index
        try await index.recordBaseline(of: "alpha", location: repository.path, refs: [:])
        let repositories = KnownRepositories(
            registry: RepositoryRegistry(index: index, mirrors: folder["mirrors"]), index: index, watchers: Watchers(),
            mirrors: folder["mirrors"], trust: .standard)
        var declaration = TasksDeclaration(
            branch: "main", agents: [AgentCommand("robo", plan: "p", work: "w")], workflows: ["test"])
        change(&declaration)
        let declared = TaskDeclarations { [declaration] _ in
            TaskDeclarations.Found(declaration: declaration, commit: commit)
        }
        let archive = try ArchiveStore(home: folder["state"])
        let scheduler = Scheduler(index: index, limit: 1)
        requests = TaskRequests(
            index: index, repositories: repositories, declarations: declared,
            crashes: CrashLookup(
                index: index, archive: archive, releases: ReleaseFolders(folder["releases"]),
                scratch: folder["scratch"], compiler: { nil }),
            issues: ForgeIssues(
                index: index, credentials: ForgeCredentialStore(folder: FilePath(folder["forges"]))),
            files: TaskFiles(folder: folder["files"]),
            queue: RunQueue(
                index: index, scheduler: scheduler, board: LiveBoard(),
                unstarted: UnstartedRuns(
                    index: index, store: archive, events: scheduler.events, log: Self.log)), settle: {})
        sources = TaskSources(declarations: declared, repositories: repositories, log: Self.log)
    }

    var forge: TaskForge { TaskForge(requests: requests, sources: sources) }

    /// A task as the issue with this number asks for it.
    func task(ofIssue number: Int) async throws -> TaskID {
        let issue = ForgeIssue(
            number: number, title: "It is wrong", body: "Please mend it", author: ForgeUser(login: "stranger", id: 7),
            labels: [], isOpen: true, link: nil, updatedAt: Date())
        _ = try await forge.hearing().begin(issue, "ada at GitHub", "alpha")
        guard let task = try await index.task(withKey: "issue \(number)", repository: "alpha") else {
            throw RequestError(.unknownTask, "the issue is no task")
        }
        return task.id
    }

    /// Gives a task its plan, which waits.
    func plan(_ id: TaskID, version: Int = 1) async throws {
        let plan = TaskPlan(version: version, summary: "s", approach: "a", files: ["a"], tests: [], tradeoffs: "")
        try await index.appendTaskEvent(.planned(plan: plan, run: 100), to: id) { $0.state = .planWaits }
    }

    /// Gives a task a change that may land.
    func ready(_ id: TaskID, change: String) async throws {
        try await index.appendTaskEvent(
            .changeOpened(name: change, link: nil, commit: commit), to: id
        ) { ($0.state, $0.change) = (.ready, change) }
    }

    func state(_ id: TaskID) async throws -> TaskState? { try await index.task(id)?.state }

    /// The events of a task after its first.
    func events(_ id: TaskID) async throws -> [TaskEvent.What] {
        try await index.taskEvents(of: id).dropFirst().map(\.what)
    }

    /// What becomes of an order.
    func obey(
        _ command: ForgeCommand, issue: Int? = nil, change: Int? = nil, writtenAt: Date? = .distantFuture
    ) async throws -> String? {
        try await forge.obey(
            ForgeOrder(
                repository: "alpha", command: command, change: change, issue: issue, run: nil, head: nil,
                by: "ada at GitHub", writtenAt: writtenAt, key: "k"))
    }

    /// The code of the refusal; nil if it was obeyed.
    func refusal(
        _ command: ForgeCommand, issue: Int? = nil, change: Int? = nil, writtenAt: Date? = .distantFuture
    ) async throws -> RequestError.Code? {
        do {
            _ = try await obey(command, issue: issue, change: change, writtenAt: writtenAt)
            return nil
        } catch let error as RequestError {
            return error.code
        }
    }
}
