import Foundation

/// The keys that count, and those that no longer do.
package struct TrustedKeys: Sendable {
    package var keys: [PublicKey]
    package var revoked: RevokedKeys

    package init(_ keys: [PublicKey], revoked: RevokedKeys = RevokedKeys()) {
        self.keys = keys
        self.revoked = revoked
    }

    /// The key that made a signature.
    ///
    /// - Parameters:
    ///   - claimed: The name that the signature gives its key; nil in forms without names.
    ///   - makers: For forms without names: the keys of which one made the signature, as something beside it says; nil:
    ///     that is not known. It only decides how a signature is refused that no trusted key made.
    /// - Throws: ``SigningError`` with `unknownKey`, `revokedKey`, `badSignature` or `keyMismatch`.
    func signer(
        of signature: Data, for input: SigningInput, claimed: KeyID?, algorithm: PublicKey.Algorithm? = nil,
        makers: Set<KeyID>? = nil
    ) throws(SigningError) -> PublicKey {
        if let claimed, revoked.ids.contains(claimed) { throw Self.isRevoked(claimed) }
        let fitting = keys.filter { algorithm == nil || $0.algorithm == algorithm }
        let known = fitting + revoked.keys.filter { algorithm == nil || $0.algorithm == algorithm }
        if let key = known.first(where: { $0.isValid(signature, for: input) }) {
            guard !revoked.contains(key) else { throw Self.isRevoked(key.id) }
            guard claimed == nil || claimed == key.id || claimed == key.fingerprint else {
                throw SigningError(
                    .keyMismatch, "the signature is one of the key \(key.id) but names another: it was changed")
            }
            return key
        }
        guard let claimed else {
            if let maker = makers?.first(where: revoked.ids.contains) { throw Self.isRevoked(maker) }
            let mayBeBad = fitting.contains { key in
                makers.map { $0.contains(key.id) || $0.contains(key.fingerprint) } ?? true
            }
            if !mayBeBad {
                throw SigningError(.unknownKey, "a key that you do not trust made the signature; it was not checked")
            }
            throw SigningError(
                .badSignature, "the signature does not belong to this file, or a key that you do not trust made it")
        }
        if fitting.contains(where: { $0.id == claimed || $0.fingerprint == claimed }) {
            throw SigningError(.badSignature, "the signature of the key \(claimed) does not belong to these bytes")
        }
        throw SigningError(
            .unknownKey, "the key \(claimed) made the signature, and you do not trust it; it was not checked")
    }

    private static func isRevoked(_ id: KeyID) -> SigningError {
        SigningError(
            .revokedKey, "the key \(id) was revoked: get the release again, signed with the key that replaced it")
    }
}

/// Keys that must not be believed any more: by name, or the whole key, whatever it is called.
package struct RevokedKeys: Sendable {
    package private(set) var ids: Set<KeyID> = []
    package private(set) var keys: [PublicKey] = []

    package init() {}

    /// Reads a list: a key id or minisign's form of a public key on each line, or PEM blocks. Lines that begin with `#`
    /// and minisign's comments are passed over.
    ///
    /// - Throws: ``SigningError`` with `badKey`, and the line. A list that can't be read revokes nothing, so it is no list.
    package init(_ text: String) throws(SigningError) {
        var block: [Substring] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let word = line.trimmingCharacters(in: .whitespaces)
            if !block.isEmpty || word.hasPrefix("-----BEGIN") {
                block.append(line)
                guard word.hasPrefix("-----END") else { continue }
                keys.append(try Self.key(block.joined(separator: "\n"), index + 1))
                block = []
            } else if let id = KeyID(word) {
                ids.insert(id)
            } else if !word.isEmpty, !word.hasPrefix("#"), !word.hasPrefix("untrusted comment:") {
                keys.append(try Self.key(word, index + 1))
            }
        }
        guard block.isEmpty else { throw SigningError(.badKey, "the list of revoked keys ends within a PEM block") }
    }

    private static func key(_ text: String, _ line: Int) throws(SigningError) -> PublicKey {
        do { return try PublicKey(text) } catch {
            throw SigningError(
                .badKey, "line \(line) of the list of revoked keys is neither a key id (16 digits) nor a public key")
        }
    }

    /// Whether a key is among them, by what it is or by either of its names.
    package func contains(_ key: PublicKey) -> Bool {
        ids.contains(key.id) || ids.contains(key.fingerprint)
            || keys.contains { $0.isSame(as: key) }
    }
}
