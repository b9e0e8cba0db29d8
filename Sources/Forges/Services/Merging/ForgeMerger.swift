public import ForgeConnection
public import Store
import AsyncHTTPClient

/// Lets the forge of a connected repository merge changes, for targets to which nobody may push.
public struct ForgeMerger: Sendable {
    private let index: Store.Index
    private let credentials: ForgeCredentialStore

    public init(index: Store.Index, credentials: ForgeCredentialStore) {
        self.index = index
        self.credentials = credentials
    }

    /// Merges a change at the forge of `repository`, if its head is the expected one. The same request may be repeated,
    /// also after this process was killed: it first finds out whether the earlier one took effect.
    ///
    /// - Throws: ``ForgeMergeError``; `CancellationError`; errors of the store.
    public func merge(_ wanted: ForgeMerge, in repository: String) async throws -> ForgeMerged {
        try await ask(repository) { try await $0.merge(wanted) }
    }

    /// As which commit the forge of `repository` has merged a change; nil if it has not. It merges nothing.
    ///
    /// - Throws: ``ForgeMergeError``; `CancellationError`; errors of the store.
    public func merged(_ wanted: ForgeMerge, in repository: String) async throws -> ForgeMerged? {
        try await ask(repository) { try await $0.merged(wanted) }
    }

    /// Whether the repository is connected with a forge.
    public func isConnected(_ repository: String) async -> Bool {
        ((try? await index.forges()) ?? []).contains { $0.repository == repository }
    }

    private func ask<Answer: Sendable>(
        _ repository: String, _ body: (any ForgeMergeService) async throws -> Answer
    ) async throws -> Answer {
        guard let record = try await index.forges().first(where: { $0.repository == repository }) else {
            throw ForgeMergeError(
                .notConnected, "\(repository) is not connected with a forge; run `pipectl forge connect URL`")
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            guard let (credential, _) = try credentials.credential(for: repository) else {
                throw ForgeMergeError(
                    .notConnected, "\(repository) has no credential for its forge; run `pipectl forge connect URL`")
            }
            let session = try ForgeSession(ForgeAddress(json: record.address), credential, http: http)
            let answer = try await body(session.service)
            try await http.shutdown()
            return answer
        } catch {
            try? await http.shutdown()
            if let error = error as? ForgeError { throw ForgeMergeError(.notConnected, error.description) }
            throw error
        }
    }
}
