internal import Crypto
internal import CryptoExtras
package import Foundation

/// A secret key in memory. Where it comes from, and who may read it there, is its caller's business.
package struct PrivateKey: Signer {
    private enum Material {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    private let material: Material
    package let publicKey: PublicKey

    /// A new key. The name of one for Ed25519 follows from the key, so that it is the same in minisign's form and PEM.
    package init(new algorithm: PublicKey.Algorithm) {
        switch algorithm {
        case .ed25519: self.init(Curve25519.Signing.PrivateKey())
        case .p256: self.init(P256.Signing.PrivateKey())
        }
    }

    private init(_ key: Curve25519.Signing.PrivateKey, id: KeyID? = nil) {
        material = .ed25519(key)
        publicKey = PublicKey(key.publicKey, id: id)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        material = .p256(key)
        publicKey = PublicKey(key.publicKey)
    }

    /// Reads minisign's form (with a passphrase if it is encrypted, which takes a second and 1 GiB), PEM (PKCS #8, and
    /// SEC 1 for P-256), or the 32 bytes of an Ed25519 key in Base64.
    ///
    /// - Throws: ``SigningError`` with `badKey`, `encryptedKey` or `wrongPassphrase`.
    package init(_ text: String, passphrase: String? = nil) throws(SigningError) {
        guard text.utf8.count <= PublicKey.textLimit else { throw Self.notKey }
        if text.contains("-----BEGIN") {
            self = try Self.fromPEM(text)
            return
        }
        var lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        lines.removeAll(where: \.isEmpty)
        if let first = lines.first, first.hasPrefix("untrusted comment:") { lines.removeFirst() }
        guard lines.count == 1, let bytes = Data(base64Encoded: lines[0]).map(Array.init) else { throw Self.notKey }
        if bytes.count == 32, let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes) {
            self.init(key)
            return
        }
        guard bytes.count == MinisignSecret.size else { throw Self.notKey }
        let secret = try MinisignSecret(bytes, passphrase: passphrase)
        self.init(secret.key, id: secret.id)
    }

    private static let notKey = SigningError(
        .badKey, "this is no secret key: give minisign's form, PEM (PKCS #8), or 32 bytes of Ed25519 in Base64")

    private static func fromPEM(_ text: String) throws(SigningError) -> PrivateKey {
        if text.contains("ENCRYPTED SIGSTORE PRIVATE KEY") || text.contains("ENCRYPTED COSIGN PRIVATE KEY") {
            throw SigningError(
                .encryptedKey,
                "a secret key of cosign is always encrypted, in a form of its own: make a key with openssl genpkey "
                    + "-algorithm EC -pkeyopt ec_paramgen_curve:P-256, which cosign import-key-pair also reads")
        }
        if text.contains("ENCRYPTED") {
            throw SigningError(
                .encryptedKey, "the secret key is encrypted: decrypt it first with openssl pkcs8 -in KEY -out PLAIN")
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return PrivateKey(key) }
        if let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: text) { return PrivateKey(key) }
        throw SigningError(
            .badKey, "this PEM has no secret key for Ed25519 or ECDSA on P-256, which are the two that are read")
    }

    /// PEM in PKCS #8, without encryption.
    package var pem: String {
        switch material {
        case .ed25519(let key): key.pemRepresentation + "\n"
        case .p256(let key): key.pemRepresentation + "\n"
        }
    }

    /// The file that `minisign -s` reads, without encryption.
    ///
    /// - Throws: ``SigningError`` with `unfitKey` for a key that is not Ed25519.
    package func minisignText() throws(SigningError) -> String {
        guard case .ed25519(let key) = material else {
            throw SigningError(.unfitKey, "minisign has Ed25519 keys only, and this is \(publicKey.algorithm.rawValue)")
        }
        let bytes = MinisignSecret(id: publicKey.id, key: key).bytes
        return "untrusted comment: minisign secret key \(publicKey.id)\n\(bytes.base64EncodedString())\n"
    }

    package func signature(for input: SigningInput) async throws -> Data {
        switch (material, input) {
        case (.ed25519(let key), .message(let message)): return try key.signature(for: message)
        case (.ed25519, .digest): throw SigningError.signsNoDigest
        case (.p256(let key), _): return try key.signature(for: input.sha256).derRepresentation
        }
    }
}
