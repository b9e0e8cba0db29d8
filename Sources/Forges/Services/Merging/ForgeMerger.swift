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
            let merged = try await session.service.merge(wanted)
            try await http.shutdown()
            return merged
        } catch {
            try? await http.shutdown()
            if let error = error as? ForgeError { throw ForgeMergeError(.notConnected, error.description) }
            throw error
        }
    }
}
