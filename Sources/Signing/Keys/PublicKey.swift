internal import Crypto
internal import CryptoExtras
package import Foundation

/// A key that checks signatures: Ed25519, or ECDSA on the curve P-256.
package struct PublicKey: Sendable, Hashable {
    package enum Algorithm: String, Sendable, Codable {
        case ed25519 = "Ed25519"
        case p256 = "ECDSA P-256"
    }

    package let algorithm: Algorithm
    /// Its name: minisign's, or the ``fingerprint`` if it came without one.
    package let id: KeyID
    /// The name that follows from the key itself.
    package let fingerprint: KeyID
    /// Ed25519: 32 bytes. P-256: the point as in X9.63, uncompressed.
    let bytes: Data
    /// The key as a `SubjectPublicKeyInfo` in DER.
    let information: Data

    init(_ key: Curve25519.Signing.PublicKey, id: KeyID? = nil) {
        self.init(.ed25519, key.rawRepresentation, key.derRepresentation, id)
    }

    init(_ key: P256.Signing.PublicKey) { self.init(.p256, key.x963Representation, key.derRepresentation, nil) }

    private init(_ algorithm: Algorithm, _ bytes: Data, _ information: Data, _ id: KeyID?) {
        self.algorithm = algorithm
        self.bytes = bytes
        self.information = information
        fingerprint = KeyID(fingerprintOf: information)
        self.id = id ?? fingerprint
    }

    /// Whether both are the same key, whatever they are called.
    package func isSame(as other: PublicKey) -> Bool { algorithm == other.algorithm && bytes == other.bytes }

    // MARK: Forms

    /// The longest text that can be a key, in bytes.
    package static let textLimit = 16 << 10

    /// Reads minisign's form, with or without its comment, or PEM.
    ///
    /// - Throws: ``SigningError`` with `badKey` or `secretKey`.
    package init(_ text: String) throws(SigningError) {
        guard text.utf8.count <= Self.textLimit else { throw Self.notKey }
        if text.contains("-----BEGIN") {
            self = try Self.fromPEM(text)
        } else {
            self = try Self.fromMinisign(text)
        }
    }

    private static let notKey = SigningError(
        .badKey,
        "this is no public key: give minisign's form (a line that begins with RW) or PEM (-----BEGIN PUBLIC KEY-----)")

    private static func fromPEM(_ text: String) throws(SigningError) -> PublicKey {
        if text.contains("PRIVATE KEY-----") {
            throw SigningError(
                .secretKey, "this is a secret key: give the public one, and show the secret one to nobody")
        }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: text) { return PublicKey(key) }
        if let key = try? Curve25519.Signing.PublicKey(pemRepresentation: text) { return PublicKey(key) }
        throw SigningError(
            .badKey, "this PEM has no public key for Ed25519 or ECDSA on P-256, which are the two that are read")
    }

    private static func fromMinisign(_ text: String) throws(SigningError) -> PublicKey {
        var lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        lines.removeAll(where: \.isEmpty)
        if let first = lines.first, first.hasPrefix("untrusted comment:") { lines.removeFirst() }
        guard lines.count == 1, let bytes = Data(base64Encoded: lines[0]).map(Array.init) else { throw notKey }
        if bytes.count == MinisignSecret.size {
            throw SigningError(
                .secretKey, "this is a secret key: give the public one, and show the secret one to nobody")
        }
        guard bytes.count == 42, bytes.starts(with: "Ed".utf8), let id = KeyID(bytes: bytes[2..<10]),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes[10...])
        else { throw notKey }
        return PublicKey(key, id: id)
    }

    /// The file that `minisign -p` reads.
    ///
    /// - Throws: ``SigningError`` with `unfitKey` for a key that is not Ed25519.
    package func minisignText() throws(SigningError) -> String {
        guard algorithm == .ed25519 else {
            throw SigningError(.unfitKey, "minisign has Ed25519 keys only, and this is \(algorithm.rawValue)")
        }
        let line = (Data("Ed".utf8) + id.bytes + bytes).base64EncodedString()
        return "untrusted comment: minisign public key \(id)\n\(line)\n"
    }

    /// PEM, which `openssl` and `cosign` read.
    package var pem: String {
        let text = information.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
    }

    /// By what sigstore's bundles name a key: the SHA-256 of its `SubjectPublicKeyInfo`, in Base64.
    var hint: String { Data(SHA256.hash(data: information)).base64EncodedString() }

    // MARK: Signatures

    /// Whether `signature` is one of this key for `input`.
    func isValid(_ signature: Data, for input: SigningInput) -> Bool {
        switch (algorithm, input) {
        case (.ed25519, .message(let message)):
            guard signature.count == 64, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
                return false
            }
            return key.isValidSignature(signature, for: message)
        case (.ed25519, .digest): return false
        case (.p256, _):
            guard let key = try? P256.Signing.PublicKey(x963Representation: bytes),
                let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: input.sha256)
        }
    }
}

/// What a key signs.
package enum SigningInput: Sendable {
    /// Bytes: Ed25519 signs them, ECDSA signs their SHA-256.
    case message(Data)
    /// The SHA-256 of a file, which only ECDSA signs.
    case digest(FileDigests)

    var sha256: SHA256Digest {
        switch self {
        case .message(let message): SHA256.hash(data: message)
        case .digest(let digests): digests.sha256
        }
    }
}
