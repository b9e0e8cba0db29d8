import AsyncHTTPClient
package import ForgeConnection
package import Store

/// Opens changes at the forges of connected repositories, and keeps their texts.
package struct ForgeOpener: Sendable {
    private let index: Store.Index
    private let credentials: ForgeCredentialStore

    package init(index: Store.Index, credentials: ForgeCredentialStore) {
        (self.index, self.credentials) = (index, credentials)
    }

    /// Whether the repository is connected with a forge.
    package func isConnected(_ repository: String) async throws -> Bool {
        try await index.forges().contains { $0.repository == repository }
    }

    /// Opens the change of a branch once, however often it is called, also after this process was killed; a change that is
    /// open is made to say what is wanted.
    ///
    /// - Throws: ``ForgeError``; `CancellationError`; errors of the store.
    package func open(_ wanted: ForgeOpening, in repository: String) async throws -> ForgeOpened {
        try await ask(repository) { try await $0.openingService.open(wanted) }
    }

    /// The change of a branch, if there is one; it changes nothing.
    package func found(_ wanted: ForgeOpening, in repository: String) async throws -> ForgeOpened? {
        try await ask(repository) { try await $0.openingService.found(wanted) }
    }

    /// Asks a repository's forge something, with a session of its own.
    ///
    /// - Throws: ``ForgeError`` if the repository is connected with none; what `body` throws.
    package func ask<Answer: Sendable>(
        _ repository: String, _ body: (ForgeSession) async throws -> Answer
    ) async throws -> Answer {
        guard let record = try await index.forges().first(where: { $0.repository == repository }),
            let (credential, _) = try credentials.credential(for: repository)
        else {
            throw ForgeError(
                .badCredential,
                "\(repository) is not connected with a forge, or lacks its credential; run `pipectl forge connect URL`")
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let session = try ForgeSession(ForgeAddress(json: record.address), credential, http: http)
            let answer = try await body(session)
            try await http.shutdown()
            return answer
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}
