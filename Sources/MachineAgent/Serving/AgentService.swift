import Concurrency
import Foundation
import MachineProtocol
import Sandbox
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Serves one run over one connection, and ends everything of it with the connection; or, as a lasting agent, over
/// several, one after the other.
struct AgentService: Sendable {
    let folder: AgentFolder
    let stepInit: String
    let sandbox: AgentSandbox

    /// How long the end may take after the connection has ended. Then this process ends, and the kernel ends its steps,
    /// as `stepinit` lives only as long as its socket.
    private static let patience = Duration.seconds(15)
    /// The most bytes of stored outputs that are kept for later runs.
    private static let outputBytes = 8 << 30
    /// Seconds after which a repository's mirror, a cache or a snapshot that no run needed is removed.
    private static let lifetime = 60 * 86_400.0

    static func prepare(folder: AgentFolder, stepInit: String, readable: [String]) async throws -> AgentService {
        try folder.prepare()
        return AgentService(
            folder: folder, stepInit: stepInit,
            sandbox: await AgentSandbox.find(stepInit: stepInit, readable: readable))
    }

    /// Returns the exit code when the connection has ended and nothing of the run is left.
    func serve(input: Descriptor, output: Descriptor) async -> Int32 {
        let greeting: DaemonGreeting
        let parser: FrameParser
        do {
            let own = ThisMachine.greeting(sandbox: sandbox.words, obstacle: sandbox.obstacle)
            (greeting, parser) = try await onOwnThread {
                try Handshake.greet(own, input: input, output: output, within: .seconds(30))
            }
        } catch {
            AgentProgram.say(
                "no daemon spoke to it over standard input: the daemon starts it on machines that "
                    + "`pipectl machines add` names")
            return 3
        }
        // The daemon says what to do about it: it knows both versions.
        guard greeting.version == MachineProtocolVersion.current else { return 4 }
        do {
            let run = try folder.makeRun()
            let session = AgentSession(service: self, run: run)
            return finish(await serve(session, greeting, input: input, output: output, parser))
        } catch {
            AgentProgram.say("\(error)")
            return 1
        }
    }

    /// Serves whoever connects, until the daemon says that the run is over, or nobody has spoken for `patience`.
    func serve(in room: AgentRoom, patience: Duration) async -> Int32 {
        do {
            let run = try folder.makeRun()
            let (requests, more) = AsyncStream<(Exchange, [UInt8])>.makeStream()
            let over = StopSignal()
            let session = AgentSession(service: self, run: run) {
                over.stop(StopRequest(.cancelled, reason: "the run is over"))
            }
            let visits = LastingVisits(
                greeting: ThisMachine.greeting(sandbox: sandbox.words, obstacle: sandbox.obstacle),
                patience: patience, isWhole: { session.isWhole }, request: { more.yield(($0, $1)) })
            let isRemoved = await withTaskGroup(of: Void.self) { group in
                group.addTask { await visits.take(from: room) }
                group.addTask {
                    await visits.wait(until: over)
                    AgentService.limitEnd()
                    session.end()
                    more.finish()
                }
                await Self.answer(requests, session)
                group.cancelAll()
                return await session.remove()
            }
            room.remove()
            return finish(isRemoved)
        } catch {
            AgentProgram.say("\(error)")
            return 1
        }
    }

    /// Makes room for later runs, and returns the exit code.
    private func finish(_ isRemoved: Bool) -> Int32 {
        folder.kept.trim(to: AgentService.outputBytes)
        Mirror.removeUnused(in: folder.mirrors, for: AgentService.lifetime)
        RunCaches.removeUnused(in: folder.caches, for: AgentService.lifetime)
        SnapshotFolder.removeUnused(in: folder.snapshots, for: AgentService.lifetime)
        return isRemoved ? 0 : 1
    }

    private static func answer(_ requests: AsyncStream<(Exchange, [UInt8])>, _ session: AgentSession) async {
        await withDiscardingTaskGroup { group in
            for await (exchange, request) in requests {
                group.addTask { await session.answer(request, on: exchange) }
            }
        }
    }

    private func serve(
        _ session: AgentSession, _ greeting: DaemonGreeting, input: Descriptor, output: Descriptor,
        _ parser: FrameParser
    ) async -> Bool {
        let (requests, more) = AsyncStream<(Exchange, [UInt8])>.makeStream()
        let connection = MachineConnection(
            input: input, output: output, silence: .seconds(min(max(greeting.silence, 1), 3_600)),
            onRequest: { more.yield(($0, $1)) },
            onEnd: { _ in
                AgentService.limitEnd()
                session.end()
                more.finish()
            })
        let lifetime = Duration.seconds(min(max(greeting.lifetime, 1), 30 * 86_400))
        do {
            try connection.start(parser)
            AgentService.limitLife(of: connection, to: lifetime)
        } catch { more.finish() }
        await Self.answer(requests, session)
        return await session.remove()
    }

    private static func limitLife(of connection: MachineConnection, to lifetime: Duration) {
        let end = ContinuousClock.now + lifetime
        let code = startThread {
            while connection.end == nil, ContinuousClock.now < end { usleep(500_000) }
            connection.close(ConnectionEnd(.ended, "reached the end of its time"))
        }
        if code != 0 { connection.close(ConnectionEnd(.failed, "had no thread to watch its time")) }
    }

    private static func limitEnd() {
        let end = ContinuousClock.now + patience
        let code = startThread {
            while ContinuousClock.now < end { usleep(200_000) }
            _exit(5)
        }
        if code != 0 { _exit(5) }
    }
}
