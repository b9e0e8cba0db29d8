import Foundation
import Git
import Logging
import Pipeline
import Results
import StateFiles
import Store
import Synchronization
import TestSupport
import Testing

@testable import Sandbox
@testable import Workspaces

/// Which runs may go without a sandbox, and which leave a snapshot.
@Suite(.timeLimit(.minutes(1))) struct WorkspaceChoiceTests {
    private static let commit = String(repeating: "a", count: 40)
    private static let key = SnapshotKey(
        repository: "alpha", workflow: "test", branch: "main", definition: "definition", tools: "swift")

    /// A merge into main; with `change`, a run of a change into it.
    private func run(
        change: Bool = false, _ edit: (inout RunRequest) -> Void = { _ in }, secrets: [SecretUse] = [],
        startsForChanges: Bool = true
    ) throws -> PreparedRun {
        var request = RunRequest(
            repository: "alpha", workflow: "test", event: change ? .pullRequest : .merge,
            ref: change ? "refs/pull/7/head" : "refs/heads/main", branch: "main", head: Self.commit,
            definitionCommit: Self.commit,
            change: change
                ? Change(
                    name: "7", head: Self.commit, target: "main", targetCommit: Self.commit, title: "", author: "ada")
                : nil,
            nonce: "", subject: "", concurrency: .supersede)
        edit(&request)
        var step = PlannedStep(name: "unit", action: .shell("true"))
        step.secrets = secrets
        let plan = Plan(workflow: "test", steps: [step])
        let id = try #require(OID(hex: Self.commit))
        return PreparedRun(
            run: QueuedRun(id: 1, request: request, createdAt: Date(timeIntervalSince1970: 0)),
            repository: SourceRepository(name: "alpha", gitDirectory: "/none", store: "/none", clone: nil), commit: id,
            tree: id, plan: plan, wholePlan: plan, definition: "definition", trust: change ? .change : .merged,
            startsForChanges: startsForChanges, program: [], parameters: [:], environment: [:])
    }

    // MARK: Without a sandbox

    private func lease(_ run: PreparedRun, allowsUnsandboxed: Bool = false) throws -> RunSandboxLease {
        try RunSandboxLease.make(
            run, state: StateFolder(environment: ["PIPECTL_HOME": "/none"]), folders: SandboxFolders(),
            allowsUnsandboxed: allowsUnsandboxed,
            sandboxing: Sandboxing(
                sandbox: nil, obstacle: "none here", controlGroups: nil, groupObstacle: nil, users: StepUsers(),
                caches: CacheLocks()),
            place: RunDirectories(folder: "/none/live", workspace: "/none/workspace"))
    }

    @Test func `merged code, allowed code and a person's own working tree run without a sandbox`() throws {
        #expect(try lease(run()).runSandbox == nil)
        #expect(try lease(run(change: true), allowsUnsandboxed: true).runSandbox == nil)
        var own = try run(change: true) { ($0.ref, $0.change) = ("", nil) }
        own.trust = .change
        #expect(try lease(own).runSandbox == nil)
    }

    @Test func `unmerged code does not run without a sandbox`() throws {
        #expect(throws: PlaceUnavailable.self) { try lease(run(change: true)) }
    }

    // MARK: Snapshots

    /// The snapshot that a run leaves, and those that it reports as missed.
    private func left(
        _ run: PreparedRun, isWhole: Bool = true, isPossible: Bool = true
    ) async -> (key: SnapshotKey?, missed: [MissedSnapshot]) {
        let log = Logger(label: "test")
        let missed = MissedList()
        let workspaces = SnapshotWorkspaces(
            store: SnapshotStore(folder: "/none", limit: 0, log: log), tools: "swift", isPossible: isPossible,
            missed: { missed.add($0) }, log: log)
        return (workspaces.leaving(run, isWhole: isWhole), missed.all)
    }

    @Test func `a whole run of merged code leaves a snapshot`() async throws {
        let (key, missed) = await left(try run())
        #expect(key == Self.key && missed.isEmpty)
    }

    @Test func `a run in part, or with secrets, asks for a run that leaves one`() async throws {
        let wanted = [MissedSnapshot(key: Self.key, commit: Self.commit)]
        let partial = await left(try run(), isWhole: false)
        #expect(partial.key == nil && partial.missed == wanted)
        let secret = await left(try run(secrets: [SecretUse("TOKEN")]))
        #expect(secret.key == nil && secret.missed == wanted)
    }

    @Test func `a run that no other run could start from leaves none, and asks for none`() async throws {
        let runs = [
            try run(change: true), try run(startsForChanges: false), try run({ $0.parameters = ["flag": "on"] }),
            try run({ $0.onlySteps = ["unit"] }), try run({ $0.branch = nil }),
        ]
        for run in runs {
            let (key, missed) = await left(run)
            #expect(key == nil && missed.isEmpty)
        }
        let (key, missed) = await left(try run(), isPossible: false)
        #expect(key == nil && missed.isEmpty)
    }
}

private final class MissedList: Sendable {
    private let list = Mutex<[MissedSnapshot]>([])
    var all: [MissedSnapshot] { list.withLock { $0 } }
    func add(_ one: MissedSnapshot) { list.withLock { $0.append(one) } }
}
