import Concurrency
import Foundation
import MachineProtocol
import Pipeline
import Sandbox
import Synchronization
import SystemCalls
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Machines
@testable import Results

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What happens when an agent or its connection is lost.
@Suite(.runFolder, .timeLimit(.minutes(3))) struct AgentLossTests {
    /// Runs a step that never ends, does something to the agent once it has begun, and returns how it ended.
    private func loss(
        lifetime: Duration = .seconds(120), silence: Duration = .seconds(30), _ marker: Marker,
        _ act: @escaping @Sendable (PipedProcess) -> Void
    ) async throws -> (outcome: RunOutcome, bench: MachineBench) {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "1\n"], "one")
        let begun = Happening()
        let agent = Mutex<PipedProcess?>(nil)
        let outcome = try await bench.withMachine(
            at: commit, lifetime: lifetime, silence: silence, started: { process in agent.withLock { $0 = process } }
        ) { place, _ in
            let step = PlannedStep.shell(
                "s", "(setsid sleep \(marker) &) ; echo begun; sleep \(marker)"
            ) { $0.retry = RetryPolicy(count: 1, condition: .infrastructure) }
            let setting = bench.setting(place) { $0.journal = StepJournal(begin: { _ in }, end: { _, _ in }) }
            async let running = run([step, .shell("after", "true", needs: ["s"])], setting) {
                if case .stepOutput = $0 { begun.happens() }
            }
            try await begun.wait()
            if let process = agent.withLock({ $0 }) { act(process) }
            return await running
        }
        return (outcome, bench)
    }

    @Test func `nothing is left of a step whose agent is killed, and its run is an infrastructure failure`()
        async throws
    {
        let marker = Marker()
        let (outcome, bench) = try await loss(marker) { kill($0.id, SIGKILL) }
        #expect(outcome.verdict == .infrastructure)
        #expect(outcome["s"].status == .infrastructure)
        // The step may have acted, so it is not run again.
        #expect(outcome["s"].attempts.count == 1)
        #expect(outcome["after"].attempts.isEmpty)
        #expect(try await marker.isGone(within: .seconds(20)), "\(marker.survivors)")
        // Its files are removed by the next agent.
        #expect(bench.runs.count == 1)
        let commit = try await bench.repository.git("rev-parse", "HEAD")
        let next = try await bench.withMachine(at: commit) { place, _ in
            (bench.runs.count, await run([.shell("s", "cat a")], bench.setting(place, run: "next")))
        }
        #expect(next.0 == 1 && next.1.verdict == .passed)
        #expect(bench.runs.isEmpty)
    }

    @Test func `an agent that says nothing any more is given up`() async throws {
        let marker = Marker()
        let (outcome, _) = try await loss(silence: .seconds(3), marker) { process in
            kill(process.id, SIGSTOP)
        }
        #expect(outcome.verdict == .infrastructure && outcome["s"].attempts.count == 1)
        // The end of the connection kills what did not end by itself.
        #expect(try await marker.isGone(within: .seconds(40)), "\(marker.survivors)")
    }

    @Test func `an agent ends everything at the end of its time`() async throws {
        let marker = Marker()
        let (outcome, bench) = try await loss(lifetime: .seconds(10), marker) { _ in }
        #expect(outcome.verdict == .infrastructure)
        #expect(try await marker.isGone(within: .seconds(20)), "\(marker.survivors)")
        try await eventually("the folder of the run is gone") { bench.runs.isEmpty }
    }

    @Test func `an agent ends everything when its input ends`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "1\n"], "one")
        let (marker, begun) = (Marker(), Happening())
        let client = Mutex<MachineClient?>(nil)
        let outcome = try await bench.withMachine(at: commit) { place, connection in
            client.withLock { $0 = connection }
            async let running = run([.shell("s", "echo begun; sleep \(marker)")], bench.setting(place)) {
                if case .stepOutput = $0 { begun.happens() }
            }
            try await begun.wait()
            await client.withLock { $0 }?.end()
            return await running
        }
        #expect(outcome.verdict == .infrastructure)
        #expect(try await marker.isGone(within: .seconds(20)), "\(marker.survivors)")
        #expect(bench.runs.isEmpty)
    }

    @Test func `an agent that ended by itself is told from one that was ended`() async throws {
        let alone = try await LocalLink(["/bin/sh", "-c", "exec 0<&- 1>&-; sleep 0.3; exit 7"]).start()
        // It closes its end of the stream before it ends.
        try await onOwnThread {
            var byte: UInt8 = 0
            alone.output.use { _ = read($0, &byte, 1) }
        }
        #expect(await alone.end() == "ended with exit code 7")
        let ended = try await LocalLink(["cat"]).start()
        #expect(await ended.end() == nil)
    }

    @Test func `an agent of another version is refused`() async throws {
        var greeting = AgentGreeting(platform: "linux", architecture: "x86_64", cores: 1, memory: 1)
        greeting.version = MachineProtocolVersion.current + 1
        let bytes = Handshake.line + Frame(.hello, header: try Wire.bytes(greeting)).bytes
        let file = RunFolder.current.path("other") + "/greeting"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let link = LocalLink(["/bin/sh", "-c", #"cat "$0"; exec cat > /dev/null"#, file])
        let problem = await #expect(throws: PlaceProblem.self) {
            try await MachineClient.connect(link, machine: "other", lifetime: .seconds(60))
        }
        #expect(problem?.mayHaveActed == false)
        #expect(problem?.reason.contains("version \(greeting.version)") == true)
    }

    @Test(arguments: [
        ["/bin/echo", "hello"], ["/bin/false"], ["/nonexistent/agent"], ["/bin/sh", "-c", "cat /dev/zero"],
    ]) func `what is no agent is refused`(_ words: [String]) async throws {
        let problem = await #expect(throws: PlaceProblem.self) {
            try await MachineClient.connect(LocalLink(words), machine: "other", lifetime: .seconds(60))
        }
        #expect(problem?.mayHaveActed == false)
    }

    @Test func `an agent refuses what is no request, and goes on`() async throws {
        let bench = try await MachineBench.make()
        let client = try await MachineClient.connect(bench.link(), machine: "other", lifetime: .seconds(60))
        try await onOwnThread {
            for name in ["..", "a/b", "", ".hidden"] {
                #expect(throws: MachineProblem.self) { try client.ask(.mirror(name), MirrorState.self) }
            }
            #expect(throws: MachineProblem.self) {
                try client.ask(.hasOutputs(sha256: "../../etc/passwd"), HasOutputs.self)
            }
            #expect(throws: MachineProblem.self) { try client.ask(.value(name: "../x"), Done.self, send: { _ in }) }
            let state = try client.ask(.mirror("good"), MirrorState.self)
            #expect(state.tips == [])
        }
        await client.end()
        #expect(bench.runs.isEmpty)
    }
}
