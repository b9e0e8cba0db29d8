import Synchronization

/// A server of the Model Context Protocol with tools and resources. Each message is a line.
///
/// It speaks the stateless revision, in which every request names its revision, and the older revisions, which begin
/// with `initialize`; both at the same time. Requests run concurrently, and are answered in the order in which they
/// finish.
public struct Server: Sendable {
    /// The most requests that run at the same time.
    static let most = 64

    /// How the server introduces itself to a client.
    public struct Identity: Sendable {
        /// The name for programs.
        public var name: String
        /// The name for people.
        public var title: String
        public var version: String
        /// Tells the model what the server is for.
        public var instructions: String

        public init(name: String, title: String, version: String, instructions: String) {
            self.name = name
            self.title = title
            self.version = version
            self.instructions = instructions
        }
    }

    let identity: Identity
    let tools: [AgentTool]
    let resources: any ResourceProvider

    public init(_ identity: Identity, tools: [AgentTool], resources: any ResourceProvider) {
        self.identity = identity
        self.tools = tools
        self.resources = resources
    }

    /// How long requests may continue after the input has ended. Most are answered at once, and nobody waits for the
    /// others.
    static let afterEnd = Duration.seconds(1)

    /// Answers requests until the input ends. Requests that are running then have ``afterEnd`` to finish, and are
    /// cancelled after that.
    public func run(input: LineInput = LineInput(), output: LineOutput = LineOutput()) async {
        let session = Session()
        await withDiscardingTaskGroup { group in
            for await line in input.lines {
                input.taken()
                switch line {
                case .tooLong:
                    let text = "a message may have \(LineInput.limit) bytes and this one has more. Send less at a time."
                    await output.send(Self.refusal(RPCError(RPCError.invalidRequest, text), id: .null))
                case .line(let bytes):
                    switch Message(line: bytes) {
                    case .invalid(let error, let id): await output.send(Self.refusal(error, id: id))
                    case .response: break
                    case .notification("notifications/cancelled", let params):
                        if let id = RequestID(params["requestId"]) { session.stop(id) }
                    case .notification: break
                    case .request(let request):
                        // This is done in order, because later requests may depend on it.
                        let revision: Revision
                        do throws(RPCError) { revision = try session.revision(of: request) } catch {
                            await output.send(Self.refusal(error, id: request.id.json))
                            continue
                        }
                        guard let stop = session.begin(request.id) else {
                            let text =
                                "\(Self.most) requests are already running, or one of them has this id. Wait for an answer."
                            await output.send(
                                Self.refusal(RPCError(RPCError.invalidRequest, text), id: request.id.json))
                            continue
                        }
                        group.addTask {
                            let answer = await answer(request, revision, stop, output)
                            session.end(request.id)
                            if let answer { await output.send(answer) }
                        }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { end in
                end.addTask { await session.drained() }
                end.addTask { try? await Task.sleep(for: Self.afterEnd) }
                await end.next()
                end.cancelAll()
            }
            group.cancelAll()
        }
    }

    static func refusal(_ error: RPCError, id: JSON) -> JSON { ["jsonrpc": "2.0", "id": id, "error": error.json] }

    /// The answer to a request; nil if the client has cancelled it and so expects none.
    private func answer(
        _ request: Request, _ revision: Revision, _ stop: CallStop, _ output: LineOutput
    ) async -> JSON? {
        await withTaskGroup(of: JSON?.self) { group in
            group.addTask {
                do throws(RPCError) {
                    let result = try await self.result(of: request, revision, output)
                    return ["jsonrpc": "2.0", "id": request.id.json, "result": self.dressed(result, revision)]
                } catch {
                    return Self.refusal(error, id: request.id.json)
                }
            }
            group.addTask {
                await stop.wait()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Adds the keys that every result of the stateless revision has.
    private func dressed(_ result: [String: JSON], _ revision: Revision) -> JSON {
        guard revision.isStateless else { return .object(result) }
        var result = result
        result["resultType"] = "complete"
        var meta = result["_meta"]?.object ?? [:]
        meta[MetaKey.serverInfo] = serverInfo
        result["_meta"] = .object(meta)
        return .object(result)
    }

    var serverInfo: JSON {
        ["name": .string(identity.name), "title": .string(identity.title), "version": .string(identity.version)]
    }
}

/// The state of a connection: the agreed revision and the running requests.
final class Session: Sendable {
    private struct State {
        var agreed: Revision?
        var calls: [RequestID: CallStop] = [:]
        /// Waits until no request is running.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// The revision of a request. `initialize` sets it for all requests that do not name one.
    func revision(of request: Request) throws(RPCError) -> Revision {
        if request.method == "initialize" {
            let wanted = request.params["protocolVersion"]?.string.flatMap(Revision.init(rawValue:))
            let agreed = wanted.flatMap { $0.isStateless ? nil : $0 } ?? .newestOfHandshake
            state.withLock { $0.agreed = agreed }
            return agreed
        }
        let meta = request.params["_meta"]
        if let wanted = meta?[MetaKey.protocolVersion] {
            guard let revision = wanted.string.flatMap(Revision.init(rawValue:)), revision.isStateless else {
                throw RPCError(
                    RPCError.unsupportedVersion, "this protocol version is not supported",
                    data: ["supported": Revision.all, "requested": wanted])
            }
            guard meta?[MetaKey.clientCapabilities]?.object != nil else {
                throw RPCError(
                    RPCError.invalidParameters, "\"_meta\" lacks the object \"\(MetaKey.clientCapabilities)\".")
            }
            return revision
        }
        if let agreed = state.withLock({ $0.agreed }) { return agreed }
        if request.method == "ping" { return .newestOfHandshake }
        throw RPCError(
            RPCError.invalidRequest,
            "begin with \"initialize\", or name the protocol version in \"_meta\" (\"\(MetaKey.protocolVersion)\").",
            data: ["supported": Revision.all])
    }

    /// Nil if too many requests are running, or if one with this id is running.
    func begin(_ id: RequestID) -> CallStop? {
        state.withLock { state in
            guard state.calls.count < Server.most, state.calls[id] == nil else { return nil }
            let stop = CallStop()
            state.calls[id] = stop
            return stop
        }
    }

    func end(_ id: RequestID) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.calls[id] = nil
            guard state.calls.isEmpty else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when no request is running, or when the task is cancelled. Only one task at a time may wait.
    func drained() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    guard !state.calls.isEmpty, !Task.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }

    func stop(_ id: RequestID) { state.withLock { $0.calls[id] }?.stop() }
}
