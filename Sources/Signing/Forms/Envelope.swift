package import Foundation

/// An envelope of DSSE (github.com/secure-systems-lab/dsse, protocol 1.0): bytes, their type, and a signature over both.
package struct Envelope: Sendable, Hashable {
    package let payloadType: String
    package let payload: Data
    package let keyID: KeyID?
    private let signature: Data

    /// The longest file of envelopes that is read, in bytes.
    package static let limit = 16 << 20
    /// The most envelopes in a file.
    private static let countLimit = 1_000

    /// Signs `payload`.
    package init(_ payload: Data, type: String, by signer: some Signer) async throws {
        payloadType = type
        self.payload = payload
        keyID = signer.publicKey.id
        signature = try await signer.signature(for: .message(Self.signedBytes(payload, type)))
    }

    /// DSSE's pre-authentication encoding: no type or payload can be taken for another.
    static func signedBytes(_ payload: Data, _ type: String) -> Data {
        Data("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
    }

    /// The trusted key that signed it.
    ///
    /// - Throws: ``SigningError``: see ``TrustedKeys``.
    package func signer(among trusted: TrustedKeys) throws(SigningError) -> PublicKey {
        try trusted.signer(of: signature, for: .message(Self.signedBytes(payload, payloadType)), claimed: keyID)
    }

    // MARK: Text

    private struct Form: Codable {
        struct Signature: Codable {
            var keyid: String?
            var sig: String
        }
        var payload: String
        var payloadType: String
        var signatures: [Signature]
    }

    /// The envelope as one line of JSON, without the line's end.
    package func line() throws -> Data {
        try StrictJSON.encode(
            Form(
                payload: payload.base64EncodedString(), payloadType: payloadType,
                signatures: [.init(keyid: keyID?.description, sig: signature.base64EncodedString())]))
    }

    /// Envelopes as a file: one on each line.
    package static func file(_ envelopes: [Envelope]) throws -> Data {
        try envelopes.reduce(into: Data()) { $0 += try $1.line() + [0x0A] }
    }

    /// Reads a file with an envelope on each line.
    ///
    /// - Parameter name: The file, for errors.
    /// - Throws: ``SigningError`` with `malformed`, `duplicateKey`, `signatureCount` or `tooLarge`.
    package static func read(_ data: Data, named name: String) throws(SigningError) -> [Envelope] {
        guard data.count <= limit else { throw SigningError(.tooLarge, "\(name) is too large") }
        let lines = data.split(separator: 0x0A)
        guard (1...countLimit).contains(lines.count) else {
            throw SigningError(.malformed, "\(name) has \(lines.isEmpty ? "no envelope" : "too many envelopes")")
        }
        var envelopes: [Envelope] = []
        for line in lines { envelopes.append(try Envelope(Data(line), named: name)) }
        return envelopes
    }

    private init(_ line: Data, named name: String) throws(SigningError) {
        let form = try StrictJSON.decode(Form.self, from: line, named: name)
        // A signature more could be one that nobody checks, beside one that is checked. Several keys sign several
        // envelopes.
        guard form.signatures.count == 1, let first = form.signatures.first else {
            throw SigningError(
                .signatureCount, "\(name) has an envelope with \(form.signatures.count) signatures instead of one")
        }
        guard let payload = Data(base64Encoded: form.payload), let signature = Data(base64Encoded: first.sig),
            (1...100).contains(form.payloadType.utf8.count), form.payloadType.isPrintable
        else { throw SigningError(.malformed, "\(name) has an envelope whose fields are no Base64") }
        payloadType = form.payloadType
        self.payload = payload
        self.signature = signature
        // A foreign name is a hint that says nothing: every key is tried then.
        keyID = first.keyid.flatMap { KeyID($0) }
    }
}
