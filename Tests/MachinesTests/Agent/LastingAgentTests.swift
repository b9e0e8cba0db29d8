import Concurrency
import Foundation
import Git
import MachineProtocol
import Pipeline
import Sandbox
import StepSlots
import Synchronization
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import MachineAgent
@testable import Machines
@testable import Results

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Agents that outlive their connections.
@Suite(.runFolder, .timeLimit(.minutes(3))) struct LastingAgentTests {
    /// A machine with a workspace, whose agent lasts.
    private struct Ground: Sendable {
        let bench: MachineBench
        let link: LastingLink

        /// Calls `body` with a first connection, and waits for the end of the agent.
        static func with(
            patience: Double = 600, _ body: (Ground, MachineClient) async throws -> Void
        ) async throws {
            let bench = try await MachineBench.make()
            var link = LastingLink(folder: bench.agentFolder)
            link.patience = patience
            do {
                let ground = Ground(bench: bench, link: link)
                try await body(ground, try await ground.begin())
                try await link.reap(within: .seconds(20))
            } catch {
                try await link.reap(within: .zero)
                throw error
            }
        }

        private func begin() async throws -> MachineClient {
            let commit = try await bench.repository.commit(["a": "1\n"], "one")
            let client = try await MachineClient.connect(link, machine: "other", lifetime: .seconds(120))
            try await CommitTransfer(
                store: "\(bench.repository.path)/.git", mirror: "repository",
                commit: try #require(OID(hex: commit)), folder: bench.room.path("packs")
            ).makeWorkspace(
                WorkspaceOrder(
                    repository: "repository", commit: commit, needsSandbox: false, caches: [], writesCaches: true),
                on: client)
            return client
        }

        func connect() async throws -> MachineClient {
            let client = try await MachineClient.connect(
                link, machine: "other", lifetime: .seconds(120), resuming: link.room)
            try await onOwnThread { _ = try client.ask(.resume, Done.self) }
            return client
        }

        private var workspaces: [String] { bench.runs.map { "\(bench.agentFolder)/runs/\($0)/workspace" } }

        func has(_ name: String) -> Bool {
            workspaces.contains { FileManager.default.fileExists(atPath: "\($0)/\(name)") }
        }

        /// Makes a file in the workspace.
        func touch(_ name: String) -> Bool {
            workspaces.allSatisfy { FileManager.default.createFile(atPath: "\($0)/\(name)", contents: nil) }
        }

        /// Runs steps as a life of the daemon does.
        func run(
            _ steps: [PlannedStep], on client: MachineClient, stop: StopSignal = StopSignal(),
            emit: @escaping @Sendable (RunEvent) -> Void = { _ in }
        ) async throws -> RunOutcome {
            let kept = try KeptSteps(folder: FilePath(bench.room.path("kept")), startedAt: Date())
            let setting = bench.setting(RemotePlace(machine: client)) {
                $0.kept = kept
            }
            return await MachinesTests.run(steps, setting, stop: stop, emit: emit)
        }

        /// Runs steps, and drops the connection when the output of a step has these bytes.
        func dropped(_ steps: [PlannedStep], on client: MachineClient, at bytes: Int) async throws -> RunOutcome {
            let once = Mutex(false)
            let outcome = try await run(steps, on: client) { event in
                guard case .stepOutput(_, _, _, let count) = event, count >= bytes,
                    once.withLock({ isDone in
                        defer { isDone = true }
                        return !isDone
                    })
                else { return }
                link.drop()
            }
            await client.end(keepsLost: true)
            return outcome
        }
    }

    /// Prints lines until the test lets it go, and then how many, and how often it was started.
    private static let counting = """
        echo x >> starts
        i=0
        while [ ! -e go ]; do i=$((i + 1)); echo "line $i"; [ $((i % 50)) -ne 0 ] || sleep 0.02; done
        echo "total $i starts $(wc -l < starts | tr -d ' ')"
        """

    @Test func `a step goes on over two lost connections, with each line of its log once`() async throws {
        try await Ground.with { ground, client in
            let steps = [
                PlannedStep.shell("first", "echo y >> firsts; echo value > out") { $0.artifacts = ["out"] },
                .shell("s", Self.counting, needs: ["first"]),
                .shell("last", "cat firsts starts", needs: ["s"]),
            ]
            for bytes in [2_000, 8_000] {
                let now = bytes == 2_000 ? client : try await ground.connect()
                let lost = try await ground.dropped(steps, on: now, at: bytes)
                #expect(lost.verdict == .infrastructure)
                #expect(lost["s"].status == .infrastructure && lost["last"].attempts.isEmpty)
            }
            let last = try await ground.connect()
            let letGo = Mutex(false)
            let outcome = try await ground.run(steps, on: last) { event in
                guard case .stepOutput(_, _, _, let count) = event, count >= 20_000 else { return }
                letGo.withLock { isDone in
                    if !isDone { isDone = ground.touch("go") }
                }
            }
            #expect(outcome.verdict == .passed, "\(outcome.reason)")
            let lines = ground.bench.log(outcome["s"]).split(separator: "\n").map(String.init)
            let total = lines.count - 1
            #expect(lines.dropLast().elementsEqual((0..<max(total, 0)).lazy.map { "line \($0 + 1)" }))
            #expect(lines.last == "total \(total) starts 1")
            #expect(ground.bench.log(outcome["last"]) == "y\nx\n")
            #expect(outcome.artifacts.map(\.path) == ["out"])
            #expect(outcome.steps.map(\.attempts.count) == [1, 1, 1])
            await last.end()
            #expect(ground.bench.runs.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: ground.link.room))
        }
    }

    @Test func `what ended without a connection is there with its results`() async throws {
        try await Ground.with { ground, client in
            let junit = #"<testsuite name="a" tests="1"><testcase classname="a" name="b"/></testsuite>"#
            let steps = [
                PlannedStep.shell(
                    "s",
                    "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo '\(junit)' > r.xml; touch done; exit 3"
                ) {
                    $0.testResults = [.junit("r.xml")]
                }
            ]
            let lost = try await ground.dropped(steps, on: client, at: 1)
            #expect(lost.verdict == .infrastructure)
            #expect(ground.touch("go"))
            try await eventually("the end of the step") { ground.has("done") }
            let again = try await ground.connect()
            let outcome = try await ground.run(steps, on: again)
            await again.end()
            #expect(outcome["s"].status == .failed && outcome["s"].attempts.map(\.exitCode) == [3])
            #expect(outcome.tests.map(\.name) == ["b"])
            #expect(ground.bench.log(outcome["s"]) == "begun\n")
        }
    }

    @Test func `a step that was taken over can be stopped`() async throws {
        try await Ground.with { ground, client in
            let marker = Marker()
            let steps = [PlannedStep.shell("s", "echo begun; sleep \(marker)")]
            _ = try await ground.dropped(steps, on: client, at: 1)
            #expect(!marker.processes.isEmpty)
            let again = try await ground.connect()
            let stop = StopSignal()
            let outcome = try await ground.run(steps, on: again, stop: stop) {
                if case .stepOutput = $0 { stop.stop(StopRequest(.cancelled, reason: "enough")) }
            }
            #expect(outcome.verdict == .cancelled)
            await again.end()
            #expect(try await marker.isGone(within: .seconds(20)), "\(marker.survivors)")
            #expect(ground.bench.runs.isEmpty)
        }
    }

    @Test func `an agent that nobody speaks to ends everything after its patience`() async throws {
        try await Ground.with(patience: 1) { ground, client in
            let marker = Marker()
            _ = try await ground.dropped([.shell("s", "echo begun; sleep \(marker)")], on: client, at: 1)
            #expect(try await marker.isGone(within: .seconds(30)), "\(marker.survivors)")
            try await eventually("nothing is left of the run", within: .seconds(30)) {
                ground.bench.runs.isEmpty && !FileManager.default.fileExists(atPath: ground.link.room)
            }
            await #expect(throws: (any Error).self) { try await ground.connect() }
        }
    }

    @Test func `of two connections the newer one counts`() async throws {
        try await Ground.with { ground, client in
            let newer = try await ground.connect()
            try await eventually("the end of the older connection") { client.isLost }
            #expect(try await ground.run([.shell("s", "cat a")], on: newer).verdict == .passed)
            await client.end(keepsLost: true)
            #expect(!newer.isLost)
            await newer.end()
            #expect(ground.bench.runs.isEmpty)
        }
    }

    @Test func `a step whose secrets have changed is not taken over`() async throws {
        try await Ground.with { ground, client in
            let steps = [PlannedStep.shell("s", "echo begun; sleep 1")]
            _ = try await ground.dropped(steps, on: client, at: 1)
            let again = try await ground.connect()
            var attempt = StepAttempt(step: steps[0], number: 1, label: "001-1", environment: [:], grace: .seconds(2))
            attempt.secrets = [StepSecret(variable: "TOKEN", content: .text("other"))]
            let order = attempt
            let problem = await #expect(throws: PlaceProblem.self) {
                _ = try await RemotePlace(machine: again).open(for: Plan(workflow: "test", steps: steps)) { place in
                    await Result { try await place.run(order, stop: StopSignal()) { _ in } }
                }.value.get()
            }
            #expect(problem?.mayHaveActed == true)
            await again.end()
        }
    }

    @Test func `nothing can be taken over after the end of the run`() async throws {
        try await Ground.with { ground, client in
            #expect(try await ground.run([.shell("s", "true")], on: client).verdict == .passed)
            ground.link.drop()
            try await eventually("the end of the connection") { client.isLost }
            await #expect(throws: (any Error).self) { try await ground.connect() }
            await client.end()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// The output that a lasting agent keeps.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct OutputSpoolTests {
    private func all(_ spool: OutputSpool) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            switch spool.next(from: bytes.count) {
            case .bytes(let more): bytes += more
            case .nothing: continue
            case .end: return bytes
            case .gone: return nil
            }
        }
    }

    private func append(_ bytes: [UInt8], to spool: OutputSpool) { bytes.withUnsafeBytes { spool.append($0) } }

    @Test func `whoever follows gets all of it, as often as he asks`() throws {
        let spool = OutputSpool(RunFolder.current.path("spool") + "/a", capacity: 1 << 20)
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        append(Array(bytes[..<300_000]), to: spool)
        append(Array(bytes[300_000...]), to: spool)
        spool.end()
        #expect(all(spool) == bytes)
        #expect(all(spool) == bytes && spool.isWhole)
    }

    @Test func `beyond its size the command waits for the follower, and nobody else can follow`() async throws {
        let spool = OutputSpool(RunFolder.current.path("spool") + "/a", capacity: 10_000)
        let bytes = (0..<64_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        async let written: Void = onOwnThread {
            append(bytes, to: spool)
            spool.end()
        }
        #expect(try await onOwnThread { all(spool) } == bytes)
        try await written
        #expect(!spool.isWhole)
        #expect(spool.next(from: 0) == .gone)
    }

    @Test func `where no file can be made the follower gets all of it`() async throws {
        let spool = OutputSpool(RunFolder.current.path("spool") + "/missing/a", capacity: 10_000)
        let bytes = (0..<64_000).map { UInt8(truncatingIfNeeded: $0) }
        async let written: Void = onOwnThread {
            append(bytes, to: spool)
            spool.end()
        }
        #expect(try await onOwnThread { all(spool) } == bytes)
        try await written
        #expect(!spool.isWhole)
    }

    @Test func `nobody waits any more when it is closed`() async throws {
        let spool = OutputSpool(RunFolder.current.path("spool") + "/a", capacity: 10)
        async let written: Void = onOwnThread { append([UInt8](repeating: 1, count: 100), to: spool) }
        spool.close()
        try await written
    }
}
