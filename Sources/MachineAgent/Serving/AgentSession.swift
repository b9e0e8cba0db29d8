import Concurrency
import Engine
import Foundation
import Git
import Layers
import MachineProtocol
import Pipeline
import Results
import Sandbox
import StateFiles
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What an agent knows of its run, and its answers to requests.
final class AgentSession: Sendable {
    private struct State {
        var made: AgentWorkspace?
        var open: (any OpenPlace)?
        var opening: Opening?
        /// By label, the attempts of a lasting agent.
        var kept: [String: KeptAttempt] = [:]
        /// Who asked for the end of a lasting agent.
        var leaving: Exchange?
        /// Whether the place of a lasting agent was open and is closed.
        var isDone = false
        /// Whether the place was closed and every process of the run has ended: then the workspace may be kept.
        var isAllEnded = false
        /// How workspaces are layered here, if the daemon has asked for snapshots and that is possible.
        var layering: Layering?
        /// Those who wait for the end of the place or of an attempt.
        var stops: [Int: StopSignal] = [:]
        var nextStop = 0
        var attempts = 0
        var isOver = false
        /// The pieces of outputs that are about to come, by digest, and where those are that this machine has.
        var offered: [String: (PieceList, [KeptOutputs.PieceSource?])] = [:]
    }

    /// The place while it is open, for whoever asked for it last.
    private struct Opening: Sendable {
        var exchange: Exchange
        let ending = StopSignal()
        var opened: OpenedPlace?
    }

    private let service: AgentService
    private let run: RunPlaceFolder
    /// Called when the daemon says that the run is over; nil: the run ends with its connection.
    private let leave: (@Sendable () -> Void)?
    private let state = Mutex(State())
    /// The most bytes of a value.
    private static let mostBytes = 1 << 30

    init(service: AgentService, run: RunPlaceFolder, leave: (@Sendable () -> Void)? = nil) {
        self.service = service
        self.run = run
        self.leave = leave
    }

    /// Asks everything to end, because the connection has, or the daemon said so.
    func end() {
        let (stops, kept) = state.withLock { state in
            state.isOver = true
            return (Array(state.stops.values), Array(state.kept.values))
        }
        for stop in stops { stop.stop(AgentSession.isLost) }
        for attempt in kept {
            attempt.stop.stop(AgentSession.isLost)
            attempt.spool.close()
        }
    }

    /// Whether a later connection can take everything over.
    var isWhole: Bool { state.withLock { state in state.kept.values.allSatisfy(\.spool.isWhole) } }

    /// Removes the files of the run; returns false if something of it may be left.
    func remove() async -> Bool {
        let (made, leaving) = state.withLock { state in
            defer { (state.made, state.open, state.leaving) = (nil, nil, nil) }
            return (state.made, state.leaving)
        }
        // Its locks are held until its files are gone.
        defer { withExtendedLifetime(made) {} }
        await made?.workspace.close()
        let isRemoved = (try? await onOwnThread { [run] in try FolderRemoval.remove(run.path) }) != nil
        if let leaving { reply(leaving, MachineReply<Done>.value(Done())) }
        return isRemoved
    }

    private static let isLost = StopRequest(.cancelled, reason: "the connection with the daemon has ended")

    func answer(_ bytes: [UInt8], on exchange: Exchange) async {
        let request: MachineRequest
        do { request = try Wire.value(from: bytes) } catch {
            return reply(exchange, MachineReply<Done>.problem(.other("the request can't be read: \(error)")))
        }
        switch request {
        case .mirror(let name): await blocking(exchange) { try self.mirror(name).state() }
        case .pack(let name, let commit):
            await blocking(exchange) {
                try self.mirror(name).take(try AgentSession.id(commit)) { try AgentSession.piece(of: exchange) }
                return Done()
            }
        case .newMirror(let name):
            await blocking(exchange) {
                try self.mirror(name).renew()
                return Done()
            }
        case .snapshots(let place): await answering(exchange) { try await self.snapshots(place) }
        case .workspace(let order): await answering(exchange) { try await self.makeWorkspace(order) }
        case .keep(let order): await answering(exchange) { try await self.keep(order) }
        case .open(let plan): await open(plan, exchange)
        case .run(let order): await leave == nil ? attempt(order, exchange) : keep(order, exchange)
        case .resume: reply(exchange, resumed())
        case .leave:
            guard let leave else { return reply(exchange, MachineReply<Done>.value(Done())) }
            state.withLock { $0.leaving = exchange }
            leave()
        case .search(let folder, let step, let order):
            await blocking(exchange) {
                let found = try self.opened().files(folder, of: step).search(
                    try order.globs.map { try Glob($0) }, order.limits, findsLinks: order.findsLinks)
                try exchange.send(try Wire.bytes(found))
                return Done()
            }
        case .read(let folder, let step, let path, let limit):
            await blocking(exchange) {
                let bytes = try self.opened().files(folder, of: step).read(path, atMost: limit) {
                    try exchange.send($0)
                }
                return FileEnd(bytes: bytes)
            }
        case .value(let name):
            await blocking(exchange) {
                guard AttemptOrder.isName(name) else {
                    throw MachineProblem.other("a value has a name that is no name of a file")
                }
                let file = self.run.scratch()
                defer { unlink(file) }
                try AgentSession.receive(exchange, into: file, atMost: AgentSession.mostBytes)
                try self.opened().add(value: name, from: FilePath(file))
                return Done()
            }
        case .discard(let order):
            await blocking(exchange) {
                try self.opened().discardPublished(by: try order.attempt())
                return Done()
            }
        case .hasOutputs(let sha256): await blocking(exchange) { try self.service.folder.kept.has(sha256) }
        case .pieces(let sha256):
            await blocking(exchange) {
                try self.offer(sha256, exchange)
                return Done()
            }
        case .outputs(let sha256, let isWhole):
            await blocking(exchange) {
                try self.takeOutputs(sha256, isWhole: isWhole, exchange)
                return Done()
            }
        case .restore(let sha256, let stale):
            await blocking(exchange) {
                let kept = self.service.folder.kept
                let outputs = StoredOutputs(path: try kept.path(sha256), sha256: sha256)
                do { try self.opened().restore(outputs, inPlaceOf: stale) } catch {
                    // Whatever was wrong with them, they are sent again the next time.
                    try kept.forget(sha256)
                    throw error
                }
                return Done()
            }
        }
    }

    // MARK: Outputs

    /// Says which pieces of outputs this machine lacks.
    private func offer(_ sha256: String, _ exchange: Exchange) throws {
        var bytes: [UInt8] = []
        while let piece = try AgentSession.piece(of: exchange) {
            bytes += piece
            guard bytes.count <= PieceList.mostBytes else {
                throw MachineProblem.other("the list of pieces is too long")
            }
        }
        guard let list = PieceList(bytes) else { throw MachineProblem.other("the list of pieces can't be read") }
        let sources = service.folder.kept.sources(of: list)
        state.withLock { $0.offered[sha256] = (list, sources) }
        try exchange.send(WantedPieces(sources.map { $0 == nil }).bytes)
    }

    private func takeOutputs(_ sha256: String, isWhole: Bool, _ exchange: Exchange) throws {
        let next = { try AgentSession.piece(of: exchange) }
        let offered = state.withLock { $0.offered.removeValue(forKey: sha256) }
        if isWhole { return try service.folder.kept.take(sha256, next) }
        guard let (list, sources) = offered else { throw MachineProblem.other("nobody listed the pieces") }
        try service.folder.kept.take(sha256, list, sources, next)
    }

    // MARK: The run

    private func makeWorkspace(_ order: WorkspaceOrder) async throws -> MadeWorkspace {
        let (isNew, layering) = state.withLock { ($0.made == nil && !$0.isOver, $0.layering) }
        guard isNew else { throw MachineProblem.other("the run has a workspace already") }
        async let tools = MachineImage.words(with: ThisMachine.program("swiftc"))
        let made = try await AgentWorkspace.make(order, service, run, layering)
        state.withLock { $0.made = made }
        return made.account(of: order, tools: await tools)
    }

    /// The snapshots that this machine has, if it can have any.
    private func snapshots(_ place: SnapshotPlace) async throws -> KeptSnapshots {
        let tools = await MachineImage.words(with: ThisMachine.program("swiftc"))
        do {
            let layering = try await service.sandbox.layering(stepInit: service.stepInit, in: run.path)
            state.withLock { $0.layering = layering }
        } catch {
            return KeptSnapshots(obstacle: "\(error)", tools: tools, snapshots: [])
        }
        let folder = try SnapshotFolder(place, in: service.folder.snapshots)
        return KeptSnapshots(tools: tools, snapshots: try await onOwnThread { folder.infos() })
    }

    /// Keeps the run's workspace as a snapshot. It is of no use to the run afterwards.
    private func keep(_ order: KeepOrder) async throws -> KeptSnapshot {
        let made = state.withLock { state in
            defer { state.isAllEnded = false }
            // A process that is still alive may write to the layers.
            return state.isAllEnded && !state.isOver ? state.made : nil
        }
        guard let made else { throw MachineProblem.other("there is no workspace that could be kept") }
        return try await made.keep(order)
    }

    private enum OpenRole {
        case opens(LocalPlace, StopSignal)
        case takesOver(StopSignal, OpenedPlace?)
        case nothing
    }

    /// Who asks first keeps the place open. A later connection of a lasting agent takes over what is said about it.
    private func open(_ plan: Plan, _ exchange: Exchange) async {
        let role: OpenRole = state.withLock { state in
            if let opening = state.opening {
                guard leave != nil else { return .nothing }
                state.opening?.exchange = exchange
                return .takesOver(opening.ending, opening.opened)
            }
            guard let place = state.made?.place, !state.isDone else { return .nothing }
            let opening = Opening(exchange: exchange)
            state.opening = opening
            return .opens(place, opening.ending)
        }
        switch role {
        case .nothing: reply(exchange, MachineReply<ClosedPlace>.problem(.other("there is no workspace to open")))
        case .takesOver(let ending, let opened):
            exchange.onNote { _ in ending.stop(AgentSession.isLost) }
            if let opened { try? await onOwnThread { try exchange.note(opened) } }
        case .opens(let place, let ending): await open(place, for: plan, exchange, ending)
        }
    }

    private func open(_ place: LocalPlace, for plan: Plan, _ exchange: Exchange, _ ending: StopSignal) async {
        let number = register(ending)
        defer { forget(number) }
        exchange.onNote { _ in ending.stop(AgentSession.isLost) }
        let result: MachineReply<ClosedPlace>
        do {
            let closed = try await place.open(for: plan) { [self] open in
                let paths = plan.steps.first.map { open.workspacePaths(of: $0) } ?? []
                let note = OpenedPlace(begunAt: open.begunAt, workspacePaths: paths.map(\.string))
                let asker = state.withLock { state in
                    state.open = open
                    state.opening?.opened = note
                    return state.opening?.exchange
                }
                // If the daemon is gone, the connection's end is the end of this, too, or another one asks again.
                try? await onOwnThread { try asker?.note(note) }
                _ = await ending.wait()
                await waitForAttempts()
                state.withLock { $0.open = nil }
            }
            state.withLock { $0.isAllEnded = closed.isAllEnded }
            result = .value(ClosedPlace(isAllEnded: closed.isAllEnded))
        } catch {
            result = .problem(MachineProblem(error))
        }
        let asker = state.withLock { state in
            // There is nothing to take over any more.
            defer { (state.opening, state.isDone) = (nil, leave != nil) }
            return state.opening?.exchange
        }
        if let asker { reply(asker, result) }
    }

    /// Gives attempts that were asked to end a few seconds. After that their processes are killed with the place.
    private func waitForAttempts() async {
        let limit = ContinuousClock.now + .seconds(5)
        while state.withLock({ $0.attempts > 0 }), ContinuousClock.now < limit {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
        }
    }

    private func attempt(_ order: AttemptOrder, _ exchange: Exchange) async {
        let stop = StopSignal()
        let number = register(stop)
        state.withLock { $0.attempts += 1 }
        defer {
            state.withLock { $0.attempts -= 1 }
            forget(number)
        }
        exchange.onNote { bytes in
            let order = try? Wire.value(StopOrder.self, from: bytes)
            stop.stop(order?.request ?? AgentSession.isLost)
        }
        do {
            let end = try await opened().run(try fitted(order), stop: stop) { bytes in
                // Nobody wants the output any more: the connection has ended, or the daemon has given up.
                do { try exchange.send(bytes) } catch { stop.stop(AgentSession.isLost) }
            }
            reply(exchange, .value(AttemptReport(end)))
        } catch {
            reply(exchange, MachineReply<AttemptReport>.problem(MachineProblem(error)))
        }
    }

    /// Runs an attempt that outlives the connection, or follows one that an earlier connection began.
    private func keep(_ order: AttemptOrder, _ exchange: Exchange) async {
        let label: String
        do { label = try order.attempt().label } catch {
            return reply(exchange, MachineReply<AttemptReport>.problem(MachineProblem(error)))
        }
        let (kept, isNew) = state.withLock { state in
            if let known = state.kept[label] { return (known, false) }
            let made = KeptAttempt(order, spool: OutputSpool(run.scratch()))
            state.kept[label] = made
            if state.isOver { made.spool.close() } else { state.attempts += 1 }
            return (made, !state.isOver)
        }
        async let work: Void = isNew ? perform(kept, order) : ()
        do { try await onOwnThread { kept.follow(exchange, by: order) } } catch {
            reply(exchange, MachineReply<AttemptReport>.problem(MachineProblem(error)))
        }
        await work
    }

    private func perform(_ kept: KeptAttempt, _ order: AttemptOrder) async {
        defer { state.withLock { $0.attempts -= 1 } }
        do {
            let end = try await opened().run(try fitted(order), stop: kept.stop) { kept.spool.append($0) }
            kept.end(.value(AttemptReport(end)))
        } catch {
            kept.end(.problem(MachineProblem(error)))
        }
    }

    private func resumed() -> MachineReply<Done> {
        let hasRun = state.withLock { $0.made != nil && !$0.isDone && !$0.isOver }
        return hasRun && isWhole
            ? .value(Done()) : .problem(.gone("the agent has nothing of the run that could be taken over"))
    }

    /// The attempt with the variables of this machine: those that name folders of the daemon's mean nothing here.
    private func fitted(_ order: AttemptOrder) throws -> StepAttempt {
        var attempt = try order.attempt()
        for (name, value) in ThisMachine.variables where attempt.step.environment[name] == nil {
            attempt.environment[name] = value
        }
        return attempt
    }

    // MARK: Parts

    /// Registers a signal that is stopped when the connection ends, at once if it has.
    private func register(_ stop: StopSignal) -> Int {
        let (number, isOver) = state.withLock { state in
            state.nextStop += 1
            state.stops[state.nextStop] = stop
            return (state.nextStop, state.isOver)
        }
        if isOver { stop.stop(AgentSession.isLost) }
        return number
    }

    private func forget(_ number: Int) { state.withLock { _ = $0.stops.removeValue(forKey: number) } }

    private func opened() throws -> any OpenPlace {
        guard let open = state.withLock({ $0.open }) else { throw MachineProblem.other("no place is open") }
        return open
    }

    private func mirror(_ name: String) throws -> Mirror { try Mirror(name, in: service.folder.mirrors) }

    private static func id(_ commit: String) throws -> OID {
        guard let id = OID(hex: commit) else { throw MachineProblem.other("a commit has a name that is no SHA-1") }
        return id
    }

    /// The next piece of data; nil at its end.
    private static func piece(of exchange: Exchange) throws -> [UInt8]? {
        switch try exchange.next() {
        case .data(let bytes): return bytes
        case .endOfData: return nil
        case .note, .reply: throw MachineProblem.other("something else came in place of data")
        }
    }

    private static func receive(_ exchange: Exchange, into path: String, atMost limit: Int) throws {
        let file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
            permissions: .ownerReadWrite)
        try file.closeAfter {
            var bytes = 0
            while let piece = try piece(of: exchange) {
                bytes += piece.count
                guard bytes <= limit else { throw MachineProblem.other("more data came than is allowed") }
                try file.writeAll(piece)
            }
        }
    }

    /// Does blocking work on a thread of its own, and replies with what it returns or throws.
    private func blocking<Value: Sendable & Codable>(
        _ exchange: Exchange, _ body: @escaping @Sendable () throws -> Value
    ) async {
        do {
            let value = try await onOwnThread(body)
            reply(exchange, .value(value))
        } catch {
            reply(exchange, MachineReply<Value>.problem(MachineProblem(error)))
        }
    }

    /// Does asynchronous work, and replies with what it returns or throws.
    private func answering<Value: Sendable & Codable>(_ exchange: Exchange, _ body: () async throws -> Value) async {
        do {
            reply(exchange, .value(try await body()))
        } catch {
            reply(exchange, MachineReply<Value>.problem(MachineProblem(error)))
        }
    }

    /// Small, so that the other side's buffers always take it.
    private func reply<Value>(_ exchange: Exchange, _ reply: MachineReply<Value>) {
        try? exchange.reply(reply)
    }
}
