import ChangeOpening
package import ForgeConnection
package import Store

/// The issues of connected repositories, as their forges have them now.
package struct ForgeIssues: Sendable {
    private let forges: ForgeOpener

    package init(index: Store.Index, credentials: ForgeCredentialStore) {
        forges = ForgeOpener(index: index, credentials: credentials)
    }

    /// The issue with this number.
    ///
    /// - Throws: ``ForgeError``, if the repository is connected with no forge or the forge has no such issue;
    ///   `CancellationError`; errors of the store.
    package func issue(_ number: Int, in repository: String) async throws -> ForgeIssue {
        let found = try await forges.ask(repository) { try await $0.reader.issue(number) }
        guard let found else {
            throw ForgeError(
                .notFound,
                "\(repository) has no issue \(number) at its forge, or the credential may not see it; look at its page")
        }
        return found
    }
}
