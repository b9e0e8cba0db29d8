import Foundation
import Git
import MachinePool
import MachineProtocol
import Pipeline
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Machines
@testable import Results
@testable import Workspaces

/// Another machine as it is provided to the daemon's runs.
@Suite(.runFolder, .timeLimit(.minutes(2))) struct RemotePlacesTests {
    private func order(
        _ bench: MachineBench, _ commit: String, steps: [PlannedStep]
    ) async throws -> PlaceOrder {
        let id = try #require(OID(hex: commit))
        let request = RunRequest(
            repository: "alpha", workflow: "test", event: .push, ref: "refs/heads/main", branch: "main", head: commit,
            definitionCommit: commit, subject: "", concurrency: .supersede)
        let plan = Plan(workflow: "test", steps: steps)
        let git = "\(bench.repository.path)/.git"
        let prepared = PreparedRun(
            run: QueuedRun(id: 1, request: request, createdAt: Date(timeIntervalSince1970: 0)),
            repository: SourceRepository(name: "alpha", gitDirectory: git, store: git, clone: nil), commit: id,
            tree: id,
            plan: plan, wholePlan: plan, definition: "definition", trust: .merged, startsForChanges: false, program: [],
            parameters: [:], environment: [:])
        return PlaceOrder(
            run: prepared,
            directories: RunDirectories(folder: bench.room.path("live"), workspace: bench.room.path("none")),
            isWhole: true, rooms: [:], closureCommand: { _, _ in [] })
    }

    @Test func `a run has its place there, and leaves nothing`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "there\n"], "one")
        let line = "cat a; if [ -d ~/.store ]; then echo kept >> ~/.store/a; cat ~/.store/a; fi"
        let step = PlannedStep.shell("s", line) { $0.caches = [CacheUse(name: "store", path: "~/.store")] }
        let hasSandbox = Mutex(false)
        var places = RemotePlaces(link: bench.link(), machine: "other", allowsUnsandboxed: true)
        places.connected = { client in hasSandbox.withLock { $0 = client.greeting.sandbox != nil } }
        for number in 1...2 {
            let provided = try await places.provide(try await order(bench, commit, steps: [step]))
            #expect(provided.workspaceView == nil && !provided.delaysNextRun)
            let outcome = await run([step], bench.setting(provided.place, run: "run-\(number)"))
            let finished = await provided.close(
                hasPassed: outcome.verdict == .passed, isAllEnded: outcome.isAllEnded)
            let log = bench.log(outcome["s"], run: "run-\(number)")
            #expect(outcome.verdict == .passed && log.hasPrefix("there\n"), "\(log)")
            // Only a sandbox has a home for caches.
            if hasSandbox.withLock({ $0 }) { #expect(log.split(separator: "\n").count == 1 + number) }
            #expect(finished.isAllEnded)
            await finished.release(nil)
        }
        #expect(bench.runs.isEmpty)
    }

    @Test func `a commit that a machine can't check out is none for it, and says nothing of the machine`() async throws
    {
        let bench = try await MachineBench.make()
        let good = try await bench.repository.commit(["a": "1\n"], "one")
        let bad = try await bench.repository.commit(at: "git~1", contentOf: "a", in: good)
        let places = RemotePlaces(link: bench.link(), machine: "other", allowsUnsandboxed: true)
        let order = try await order(bench, bad, steps: [.shell("s", "true")])
        let problem = await #expect(throws: PlaceUnavailable.self) { try await places.provide(order) }
        #expect(problem?.reason.contains("other") == true)
        #expect(bench.runs.isEmpty)
    }

    @Test func `a machine that is of another kind than its list says gets no run`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "1\n"], "one")
        let order = try await order(bench, commit, steps: [.shell("s", "true")])
        var places = RemotePlaces(link: bench.link(), machine: "other", allowsUnsandboxed: true)
        let arch = ThisMachine.traits.filter { $0 != .linux && $0 != .macOS }
        places.kind = arch == [.arch(.arm64)] ? [.arch(.x64)] : [.arch(.arm64)]
        await #expect(throws: PlaceProblem.self) { try await places.provide(order) }
        #expect(bench.runs.isEmpty)
        places.kind = ThisMachine.traits + [.label("gpu")]
        await (try await places.provide(order)).abandon()
    }

    @Test func `what needs the daemon's machine is refused before anything is sent`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "1\n"], "one")
        let places = RemotePlaces(link: LocalLink(["/nonexistent"]), machine: "other", allowsUnsandboxed: true)
        let closure = PlannedStep(name: "c", action: .closure)
        let order = try await order(bench, commit, steps: [closure])
        let problem = await #expect(throws: PlaceProblem.self) { try await places.provide(order) }
        #expect(problem?.mayHaveActed == false)
        #expect(problem?.reason.contains("\"c\"") == true)
    }
}
