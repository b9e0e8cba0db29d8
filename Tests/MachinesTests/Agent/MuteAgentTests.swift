import Concurrency
import Foundation
import MachineProtocol
import Pipeline
import SystemCalls
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Machines

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A machine that lives but does nothing, as one whose disk does not answer.
@Suite(.timeLimit(.minutes(1))) struct MuteAgentTests {
    /// The way to an agent that opens a place, and answers nothing else.
    private struct MuteLink: AgentLink {
        let asked = Happening()

        func start() async throws -> AgentStream {
            var ends: [Int32] = [-1, -1]
            #if os(Linux)
                let kind = Int32(SOCK_STREAM.rawValue)
            #else
                let kind = SOCK_STREAM
            #endif
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw LinkProblem(reason: "no sockets") }
            let (ours, theirs) = (Descriptor(ends[0]), Descriptor(ends[1]))
            _ = startThread { [asked] in
                let greeting = AgentGreeting(platform: "linux", architecture: "x86_64", cores: 1, memory: 1)
                let met: (greeting: DaemonGreeting, parser: FrameParser)? = try? Handshake.greet(
                    greeting, input: theirs, output: theirs, within: .seconds(20))
                guard let met else { return }
                let serving = MachineConnection(
                    input: theirs, output: theirs, silence: .seconds(30),
                    onRequest: { exchange, bytes in
                        if case .open? = try? Wire.value(MachineRequest.self, from: bytes) {
                            _ = startThread {
                                try? exchange.note(OpenedPlace(begunAt: Date(), workspacePaths: []))
                            }
                        } else {
                            asked.happens()
                        }
                    })
                try? serving.start(met.parser)
            }
            return AgentStream(output: ours, input: ours) { _ in nil }
        }
    }

    private let request = StopRequest(.cancelled, reason: "not wanted")
    private let step = PlannedStep(name: "s", action: .shell("true"))

    private func connect(
        _ link: MuteLink, _ stop: StopSignal, usual: Duration = .seconds(3_600)
    ) async throws -> MachineClient {
        var patience = MachineClient.Patience()
        (patience.usual, patience.ending) = (usual, .zero)
        return try await MachineClient.connect(
            link, machine: "other", lifetime: .seconds(60), stop: stop, patience: patience)
    }

    private func read(_ client: MachineClient) async throws -> WorkspaceFileProblem? {
        let files = RemoteFiles(machine: client, folder: .workspace, step: step)
        return try await onOwnThread {
            do {
                _ = try files.read("a", atMost: 10) { _ in }
                return nil
            } catch { return error as? WorkspaceFileProblem }
        }
    }

    @Test func `the end of a run ends a question that nobody answers`() async throws {
        let (link, stop) = (MuteLink(), StopSignal())
        let client = try await connect(link, stop)
        async let problem = read(client)
        try await link.asked.wait()
        #expect(!client.isLost)
        stop.stop(request)
        #expect(try await problem?.machineError == .ioError)
        #expect(client.isLost)
        await client.end()
    }

    @Test func `a question that nobody answers has an end`() async throws {
        let client = try await connect(MuteLink(), StopSignal(), usual: .zero)
        #expect(try await read(client)?.machineError == .ioError)
        #expect(client.isLost)
        await client.end()
    }

    @Test func `a place that is never closed has an end`() async throws {
        let stop = StopSignal()
        let client = try await connect(MuteLink(), stop)
        let (value, isAllEnded) = try await RemotePlace(machine: client).open(
            for: Plan(workflow: "test", steps: [step])
        ) { [request] _ in
            stop.stop(request)
            return 7
        }
        #expect(value == 7 && !isAllEnded && client.isLost)
        await client.end()
    }
}
