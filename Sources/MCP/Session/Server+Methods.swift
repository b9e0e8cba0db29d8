/// The server's answer to each method.
extension Server {
    func result(
        of request: Request, _ revision: Revision, _ output: LineOutput
    ) async throws(RPCError) -> [String: JSON] {
        switch request.method {
        case "initialize":
            return [
                "protocolVersion": .string(revision.rawValue), "capabilities": capabilities, "serverInfo": serverInfo,
                "instructions": .string(identity.instructions),
            ]
        case "server/discover" where revision.isStateless:
            return cached(
                [
                    "supportedVersions": Revision.all, "capabilities": capabilities,
                    "instructions": .string(identity.instructions),
                ], forMinutes: 60, revision)
        case "ping" where !revision.isStateless: return [:]
        case "tools/list":
            try refuseCursor(request)
            return cached(["tools": .array(tools.map { $0.listing(revision) })], forMinutes: 60, revision)
        case "tools/call": return try await call(request, revision, output)
        case "resources/list":
            try refuseCursor(request)
            let listed = try await failing { try await resources.resources() }
            return cached(["resources": .array(listed.map(\.listing))], forMinutes: 0, revision)
        case "resources/templates/list":
            try refuseCursor(request)
            return cached(["resourceTemplates": .array(resources.templates.map(\.template))], forMinutes: 60, revision)
        case "resources/read": return try await read(request, revision)
        case "subscriptions/listen" where revision.isStateless: return await listen(request, output)
        default:
            throw RPCError(
                RPCError.methodNotFound, "there is no method \"\(String(request.method.prefix(100)))\" here.")
        }
    }

    private var capabilities: JSON { ["tools": [:], "resources": [:]] }

    /// Every list has a single page, so no valid cursor exists.
    private func refuseCursor(_ request: Request) throws(RPCError) {
        guard let cursor = request.params["cursor"], cursor != .null else { return }
        throw RPCError(RPCError.invalidParameters, "there are no more pages.")
    }

    /// How long a client may cache the answer, which the stateless revision requires.
    private func cached(_ result: [String: JSON], forMinutes minutes: Int, _ revision: Revision) -> [String: JSON] {
        guard revision.isStateless else { return result }
        return result.merging(["ttlMs": .integer(minutes * 60_000), "cacheScope": "private"]) { $1 }
    }

    private func call(
        _ request: Request, _ revision: Revision, _ output: LineOutput
    ) async throws(RPCError) -> [String: JSON] {
        guard let name = request.params["name"]?.string, let tool = tools.first(where: { $0.name == name }) else {
            let wanted = String((request.params["name"]?.text ?? "nothing").prefix(100))
            throw RPCError(
                RPCError.invalidParameters,
                "there is no tool \(wanted); there are \(tools.map(\.name).joined(separator: ", ")).")
        }
        do {
            let arguments = try Arguments(request.params["arguments"], for: tool)
            let answer = try await tool.call(arguments, Call(token: request.progressToken, output: output))
            var result: [String: JSON] = [
                "content": [["type": "text", "text": .string(answer.text)]], "isError": .bool(answer.isError),
            ]
            if revision.hasStructuredContent { result["structuredContent"] = answer.structured }
            return result
        } catch {
            // The model may correct its request. In some hosts it never sees errors of the protocol.
            let text = TextBudget(bytes: 4_096).head(of: "\(error)", rest: "the rest is not kept.").text
            return ["content": [["type": "text", "text": .string(text)]], "isError": true]
        }
    }

    private func read(_ request: Request, _ revision: Revision) async throws(RPCError) -> [String: JSON] {
        guard let uri = request.params["uri"]?.string, uri.utf8.count <= 1_024 else {
            throw RPCError(RPCError.invalidParameters, "\"uri\" is missing or too long.")
        }
        guard let found = try await failing({ try await resources.read(uri) }) else {
            throw RPCError(
                revision.isStateless ? RPCError.invalidParameters : RPCError.resourceNotFound,
                "there is no resource \"\(uri)\"; resources/list and resources/templates/list name those that exist.",
                data: ["uri": .string(uri)])
        }
        return cached(
            ["contents": [["uri": .string(uri), "mimeType": .string(found.type), "text": .string(found.text)]]],
            forMinutes: 0, revision)
    }

    /// No resource can change here, so the server says that, and keeps the subscription until its end.
    private func listen(_ request: Request, _ output: LineOutput) async -> [String: JSON] {
        let meta: JSON = .object([MetaKey.subscription: request.id.json])
        await output.send([
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": ["_meta": meta, "notifications": [:]],
        ])
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        return ["_meta": meta]
    }

    private func failing<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(RPCError) -> Value {
        do { return try await body() } catch {
            throw RPCError(RPCError.internalError, String("\(error)".prefix(4_096)))
        }
    }
}
