import Listening
import Running
import Control
import Forges
import Store

/// Answers requests about connections to forges.
struct ForgeRequests: Sendable {
    let index: Store.Index
    /// Notified of added and removed connections.
    let news: ChangeNotifier
    /// How webhooks are heard; nil where they are not.
    var listen: ListenOptions?
    /// Whom to ask about changes.
    let receivers = ForgeReceivers()

    /// Connects the repository `name`, or replaces its connection.
    func connect(_ name: String, location: String, address: String) async throws {
        try await index.connectForge(name, address: address, location: location)
        news.tellAll()
    }

    /// - Throws: ``RequestError`` if the repository has no connection.
    func disconnect(_ name: String) async throws {
        guard try await index.disconnectForge(name) else {
            throw RequestError(
                .unknownRepository,
                "\"\(name)\" is not connected to a forge; `pipectl forge status` lists those that are")
        }
        news.tellAll()
    }

    func status() async throws -> [ForgeStatus] {
        var all: [ForgeStatus] = []
        for record in try await index.forges() {
            let open = try await index.openForgeItems(of: record.repository, limit: 10_000)
            let refused = try await index.refusedForgeItems(of: record.repository)
            all.append(
                ForgeStatus(
                    repository: record.repository, address: record.address, connectedAt: record.connectedAt,
                    undelivered: open.count, failures: open.map(\.failures).max() ?? 0, nextTry: open.first?.dueAt,
                    refusals: refused.map { ForgeStatus.Refusal(thing: $0.thing, reason: $0.refusal ?? "") }))
        }
        return all
    }
}
