package import Foundation

/// cosign's signature of a file: ECDSA on P-256 over the SHA-256, in DER, as one line of Base64, or in a bundle of
/// sigstore. `cosign verify-blob --key` reads both.
package struct BlobSignature: Sendable, Equatable {
    /// The signature in DER.
    package let bytes: Data
    /// The key that a bundle says it is of, by its fingerprint. Nothing protects it.
    package let hint: KeyID?

    /// The longest file of a signature alone, in bytes.
    package static let limit = 1 << 10
    /// The longest bundle, in bytes. Those with entries of a transparency log have some 10 KiB.
    package static let bundleLimit = 256 << 10

    private static let mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

    /// Signs a file.
    ///
    /// - Throws: ``SigningError`` with `unfitKey` if the key is not for ECDSA; what the signer throws.
    package init(of file: FileDigests, by signer: some Signer) async throws {
        guard signer.publicKey.algorithm == .p256 else { throw SigningError.signsNoDigest }
        bytes = try await signer.signature(for: .digest(file))
        hint = signer.publicKey.fingerprint
    }

    /// Reads the line of Base64.
    ///
    /// - Throws: ``SigningError`` with `malformed`.
    package init(line data: Data) throws(SigningError) {
        let text = String(decoding: data.last == 0x0A ? data.dropLast() : data, as: UTF8.self)
        guard data.count <= Self.limit, let bytes = Data(base64Encoded: text), (8...80).contains(bytes.count) else {
            throw SigningError(.malformed, "this is no signature of cosign, which is one line of Base64")
        }
        self.bytes = bytes
        hint = nil
    }

    /// The file that `cosign sign-blob --output-signature` writes.
    package var line: String { bytes.base64EncodedString() + "\n" }

    /// The trusted key that signed `file`.
    ///
    /// - Parameter makers: The keys of which one made it, as its ``hint`` or something beside it says; nil: that is not
    ///   known.
    /// - Throws: ``SigningError``: see ``TrustedKeys``.
    package func signer(
        of file: FileDigests, among trusted: TrustedKeys, makers: Set<KeyID>? = nil
    ) throws(SigningError) -> PublicKey {
        try trusted.signer(of: bytes, for: .digest(file), claimed: nil, algorithm: .p256, makers: makers)
    }

    // MARK: Bundles

    /// A bundle of sigstore, version 0.3, with the key's fingerprint as a hint and without an entry of a log.
    package func bundle(of file: FileDigests, key: PublicKey) throws -> Data {
        let digest = Bundle.Digest(algorithm: "SHA2_256", digest: Data(file.sha256).base64EncodedString())
        return try StrictJSON.encode(
            Bundle(
                mediaType: Self.mediaType,
                verificationMaterial: .init(publicKey: .init(hint: key.hint), tlogEntries: []),
                messageSignature: .init(messageDigest: digest, signature: bytes.base64EncodedString())))
    }

    /// Reads a bundle with a signature of a file. What it says of logs is passed over: nothing is concluded from it.
    ///
    /// - Throws: ``SigningError`` with `malformed`, `duplicateKey`, `wrongKind`, or `badSignature` if it is of another
    ///   file.
    package init(bundle data: Data, of file: FileDigests) throws(SigningError) {
        guard data.count <= Self.bundleLimit else { throw SigningError(.tooLarge, "the bundle is too large") }
        let bundle = try StrictJSON.decode(Bundle.self, from: data, named: "the bundle")
        guard bundle.mediaType == Self.mediaType else {
            throw SigningError(.wrongKind, "the bundle is not of sigstore's version 0.3, which is the one that is read")
        }
        guard let message = bundle.messageSignature else {
            throw SigningError(.wrongKind, "the bundle has no signature of a file")
        }
        guard let key = bundle.verificationMaterial.publicKey else {
            throw SigningError(
                .wrongKind, "the bundle is signed with a certificate; only signatures with a key can be checked offline"
            )
        }
        if let digest = message.messageDigest {
            guard digest.algorithm == "SHA2_256", let bytes = Data(base64Encoded: digest.digest) else {
                throw SigningError(.wrongKind, "the bundle has a digest that is not SHA-256")
            }
            guard bytes.elementsEqual(file.sha256) else {
                throw SigningError(.badSignature, "the bundle is one of another file")
            }
        }
        guard let signature = Data(base64Encoded: message.signature), (8...80).contains(signature.count) else {
            throw SigningError(.malformed, "the bundle's signature is no Base64")
        }
        bytes = signature
        // Other tools may write another hint: then it says nothing.
        let fingerprint = key.hint.flatMap { Data(base64Encoded: $0) }.flatMap { $0.count == 32 ? $0 : nil }
        hint = fingerprint.flatMap { KeyID(bytes: $0.prefix(8)) }
    }

    private struct Bundle: Codable {
        struct Key: Codable { var hint: String? }
        struct Entry: Codable {}
        struct Material: Codable {
            var publicKey: Key?
            var tlogEntries: [Entry]?
        }
        struct Digest: Codable {
            var algorithm: String
            var digest: String
        }
        struct Message: Codable {
            var messageDigest: Digest?
            var signature: String
        }
        var mediaType: String
        var verificationMaterial: Material
        var messageSignature: Message?
    }
}
