import Foundation
import Git
import Logging
import Pipeline
import Results
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Workspaces

/// Which snapshots of another machine a run uses and leaves.
@Suite(.timeLimit(.minutes(1))) struct OtherSnapshotsTests {
    private struct Ground {
        let repository: TestRepository
        let store: SnapshotStore
        let missed = Missed()

        final class Missed: Sendable {
            private let wanted = Mutex<[MissedSnapshot]>([])
            func add(_ one: MissedSnapshot) { wanted.withLock { $0.append(one) } }
            var all: [MissedSnapshot] { wanted.withLock { $0 } }
        }

        var snapshots: OtherSnapshots { snapshots(limit: 1_000) }

        func snapshots(limit: Int) -> OtherSnapshots {
            let here = SnapshotWorkspaces(
                store: store, tools: "here", isPossible: false, missed: { missed.add($0) },
                log: Logger(label: "test"))
            return OtherSnapshots(here, limit: limit)
        }

        /// A run of a commit: of merged code, or of a change into main.
        func run(
            _ commit: String, change target: String? = nil, id: RunID = 1,
            _ edit: (inout PreparedRun) -> Void = { _ in }
        ) async throws -> PreparedRun {
            let git = "\(repository.path)/.git"
            let oid = try #require(OID(hex: commit))
            let tree = try await withRepository(at: git) { try $0.commit(oid).tree }
            let change = target.map {
                Change(name: "7", head: commit, target: "main", targetCommit: $0, title: "", author: "ada")
            }
            let request = RunRequest(
                repository: "alpha", workflow: "test", event: target == nil ? .merge : .pullRequest,
                ref: "refs/heads/main", branch: "main", head: commit, definitionCommit: commit, change: change,
                nonce: "", subject: "", concurrency: .supersede)
            let plan = Plan(workflow: "test", steps: [PlannedStep(name: "unit", action: .shell("true"))])
            var run = PreparedRun(
                run: QueuedRun(id: id, request: request, createdAt: Date(timeIntervalSince1970: 0)),
                repository: SourceRepository(name: "alpha", gitDirectory: git, store: git, clone: nil), commit: oid,
                tree: tree, plan: plan, wholePlan: plan, definition: "definition",
                trust: target == nil ? .merged : .change,
                startsForChanges: true, program: [], parameters: [:], environment: [:])
            edit(&run)
            return run
        }

        /// What the machine tells of the snapshot that a run has left.
        func kept(_ run: PreparedRun, name: String, tools: String = "t", layers: Int = 2) async throws
            -> OtherSnapshots.Told
        {
            let choice = await snapshots.choose(run, among: [], on: "mini", tools: tools)
            let note = try #require(snapshots.note(run, choice, [], on: "mini"))
            snapshots.noteKept(note, of: run.run.id, on: "mini", .success(1))
            return OtherSnapshots.Told(name: name, note: note, layers: layers, bytes: 10)
        }

        func choose(_ run: PreparedRun, _ told: [OtherSnapshots.Told], tools: String = "t") async
            -> OtherSnapshots.Choice
        {
            await snapshots.choose(run, among: told, on: "mini", tools: tools)
        }
    }

    private func withGround(_ body: (Ground) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let repository = try await TestRepository.make(at: "\(folder)/repository")
            try await body(
                Ground(
                    repository: repository,
                    store: SnapshotStore(
                        folder: "\(folder)/bases", record: "\(folder)/wrong.json", limit: 0, log: Logger(label: "test"))
                ))
        }
    }

    @Test func `a change starts from the snapshot with the smallest difference`() async throws {
        try await withGround { ground in
            let old = try await ground.repository.commit(["a": "1", "b": "1", "c": "1"], "one")
            let new = try await ground.repository.commit(["a": "2", "b": "2", "c": "2"], "two")
            let told = [
                try await ground.kept(ground.run(old, id: 3), name: "old"),
                try await ground.kept(ground.run(new, id: 4), name: "new"),
            ]
            let head = try await ground.repository.commit(["a": "3"], "three")
            let choice = await ground.choose(try await ground.run(head, change: new), told)
            #expect(choice.name == "new" && choice.base == Report.Base(run: 4, commit: new, changedFiles: 1))
            #expect(!choice.leaves && choice.cold == nil && choice.unwanted.isEmpty)
            #expect(ground.missed.all.isEmpty, "the target's own snapshot is there")
        }
    }

    @Test func `with a limit of 0 bytes nothing is used, left or kept there`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            let run = try await ground.run(commit, id: 3)
            let told = [try await ground.kept(run, name: "old")]
            let none = ground.snapshots(limit: 0)
            #expect(none.line(of: run) != nil, "or the machine would not be asked")
            let choice = await none.choose(run, among: told, on: "mini", tools: "t")
            #expect(choice.name == nil && !choice.leaves && !choice.isWarm && choice.unwanted == ["old"])
            #expect(ground.missed.all.isEmpty)
        }
    }

    @Test func `without one for its target, the machine is to be warmed up`() async throws {
        try await withGround { ground in
            let old = try await ground.repository.commit(["a": "1"], "one")
            let new = try await ground.repository.commit(["a": "2"], "two")
            let told = [try await ground.kept(ground.run(old, id: 3), name: "old")]
            let change = try await ground.run(new, change: new)
            #expect(await ground.choose(change, told).name == "old")
            let cold = await ground.choose(change, told, tools: "other")
            #expect(cold.name == nil && cold.cold == "the compiler or installed packages changed since run 3")
            #expect(await ground.choose(change, []).cold == "there is no warm workspace of main on mini yet")
            #expect(ground.missed.all.map(\.commit) == [new, new, new])
            #expect(ground.missed.all.allSatisfy { $0.machine == "mini" })
        }
    }

    @Test func `merged code leaves one, unless a step had secrets or was proved`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            let run = try await ground.run(commit)
            let choice = await ground.choose(run, [])
            var step = StepRecord(name: "unit", command: "true")
            #expect(choice.leaves && ground.snapshots.note(run, choice, [step], on: "mini") != nil)
            #expect(ground.missed.all.isEmpty)
            step.provedBy = ProofCitation(run: 1, attempt: 1, step: "unit")
            #expect(ground.snapshots.note(run, choice, [step], on: "mini") == nil)
            let secret = try await ground.run(commit) { run in
                run.plan.steps[0].secrets = [SecretUse("TOKEN")]
            }
            #expect(await !ground.choose(secret, []).leaves)
            #expect(ground.missed.all.count == 2)
            let release = try await ground.run(commit) { run in
                run.run.request.runsAtMostOnce = true
                run.startsForChanges = false
            }
            #expect(ground.snapshots.line(of: release) == nil)
        }
    }

    @Test func `wrong ones are used no more, whoever remembers`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            let run = try await ground.run(commit, id: 3)
            let under = await ground.choose(run, [])
            let told = [try await ground.kept(run, name: "wrong")]
            let change = try await ground.run(commit, change: commit)
            #expect(await ground.choose(change, told).name == "wrong")
            #expect(
                await ground.store.giveUp(
                    SnapshotLine(repository: "alpha", workflow: "other", branch: "main"), until: 9) == 0)
            #expect(
                await ground.store.giveUp(SnapshotLine(repository: "alpha", workflow: "test", branch: "main"), until: 9)
                    == 1)
            #expect(ground.snapshots.note(run, under, [], on: "mini") == nil, "a run that was under way may lie on it")
            let folder = ground.store.folder
            let later = Ground(
                repository: ground.repository,
                store: SnapshotStore(
                    folder: folder,
                    record: (folder as NSString).deletingLastPathComponent + "/wrong.json", limit: 0,
                    log: Logger(label: "test")))
            for ground in [ground, later] {
                let choice = await ground.choose(change, told)
                #expect(choice.name == nil && choice.unwanted == ["wrong"])
            }
            let again = [try await later.kept(try await ground.run(commit, id: 10), name: "right")]
            #expect(await later.choose(change, again).name == "right")
        }
    }

    @Test func `what left its branch, other lines and nonsense are removed`() async throws {
        try await withGround { ground in
            let first = try await ground.repository.commit(["a": "1"], "one")
            let gone = try await ground.repository.commit(["a": "2"], "two")
            var told = [
                try await ground.kept(ground.run(first, id: 3), name: "first"),
                try await ground.kept(ground.run(gone, id: 4), name: "gone"),
                OtherSnapshots.Told(name: "nonsense", note: Data("{".utf8), layers: 1, bytes: 1),
            ]
            let other = try await ground.run(first) { $0.run.request.workflow = "other" }
            told.append(try await ground.kept(other, name: "other"))
            try await ground.repository.git("reset", "-q", "--hard", first)
            let choice = await ground.choose(try await ground.run(first, change: first), told)
            #expect(choice.name == "first" && Set(choice.unwanted) == ["gone", "nonsense", "other"])
        }
    }

    @Test func `a note that a machine has changed does not mislead the clean room`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            var told = try await ground.kept(ground.run(commit, id: 3), name: "one")
            #expect(ground.store.elsewhere.newest.map(\.facts.run) == [3])
            let text = String(decoding: told.note, as: UTF8.self)
            told.note = Data(text.replacing(/"cleanAt":[-0-9.e+]+/, with: #""cleanAt":-1e300"#).utf8)
            #expect(told.note != Data(text.utf8))
            let choice = await ground.choose(try await ground.run(commit, change: commit), [told])
            #expect(choice.name == nil && choice.unwanted == ["one"] && ground.store.elsewhere.newest.isEmpty)
        }
    }

    @Test func `for machines of which any may come, nobody is warmed up`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            let change = try await ground.run(commit, change: commit)
            _ = await ground.snapshots.choose(change, among: [], on: "cluster", tools: "t", isOne: false)
            #expect(ground.missed.all.isEmpty)
        }
    }

    @Test func `one that is full of layers is only for runs that leave none`() async throws {
        try await withGround { ground in
            let commit = try await ground.repository.commit(["a": "1"], "one")
            let run = try await ground.run(commit)
            let told = [try await ground.kept(run, name: "deep", layers: SnapshotStore.deepest)]
            #expect(await ground.choose(run, told).name == nil)
            #expect(await ground.choose(try await ground.run(commit, change: commit), told).name == "deep")
        }
    }
}
