package import Foundation

/// A signature file of minisign, of the prehashed form: Ed25519 over the BLAKE2b-512 of the file, and over that
/// signature with the trusted comment.
///
/// minisign's older form, which signs the file itself, is not read: a signature over 64 bytes would be valid in both
/// forms, for two files.
package struct MinisignSignature: Sendable, Equatable {
    /// The name of the key that it says it is of.
    package let keyID: KeyID
    /// What the signer says of the file. It is protected by the signature.
    package let trustedComment: String
    private let signature: Data
    private let globalSignature: Data

    /// The longest file that is read, in bytes, which is more than minisign writes.
    package static let limit = 10 << 10
    private static let commentLimit = 4_096
    private static let head = "untrusted comment: "
    private static let trustedHead = "trusted comment: "

    /// Signs a file.
    ///
    /// - Parameter trustedComment: One line, for people and for ``TrustedComment``.
    /// - Throws: ``SigningError`` with `unfitKey` if the key is not for Ed25519, `malformed` if the comment is no line;
    ///   what the signer throws.
    package init(of file: FileDigests, trustedComment: String, by signer: some Signer) async throws {
        guard signer.publicKey.algorithm == .ed25519 else {
            throw SigningError(
                .unfitKey, "minisign's form wants an Ed25519 key, and this is \(signer.publicKey.algorithm.rawValue)")
        }
        guard Self.isComment(trustedComment) else {
            throw SigningError(
                .malformed, "a trusted comment is one printable line of up to \(Self.commentLimit) bytes")
        }
        keyID = signer.publicKey.id
        self.trustedComment = trustedComment
        signature = try await signer.signature(for: .message(Data(file.blake2b)))
        globalSignature = try await signer.signature(for: .message(signature + trustedComment.utf8))
    }

    private static func isComment(_ text: String) -> Bool {
        text.utf8.count <= commentLimit && text.replacing("\t", with: "").isPrintable
    }

    /// Reads a file of minisign.
    ///
    /// - Throws: ``SigningError`` with `malformed` or `wrongKind`.
    package init(_ data: Data) throws(SigningError) {
        let broken = SigningError(.malformed, "this is no signature file of minisign, which has four lines")
        guard data.count <= Self.limit, let text = String(validating: data, as: UTF8.self) else { throw broken }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        guard lines.count == 4, lines[0].hasPrefix(Self.head), lines[2].hasPrefix(Self.trustedHead),
            let bytes = Data(base64Encoded: String(lines[1])).map(Array.init), bytes.count == 74,
            let global = Data(base64Encoded: String(lines[3])), global.count == 64,
            let id = KeyID(bytes: bytes[2..<10])
        else { throw broken }
        let comment = String(lines[2].dropFirst(Self.trustedHead.count))
        guard Self.isComment(comment) else { throw broken }
        switch String(decoding: bytes[..<2], as: UTF8.self) {
        case "ED": break
        case "Ed":
            throw SigningError(
                .wrongKind,
                "this is minisign's older form, which is not accepted: sign again with minisign 0.11 or newer")
        default: throw SigningError(.wrongKind, "the signature has an algorithm that minisign does not have")
        }
        keyID = id
        trustedComment = comment
        signature = Data(bytes[10...])
        globalSignature = global
    }

    /// The file's text.
    package var text: String {
        let line = (Data("ED".utf8) + keyID.bytes + signature).base64EncodedString()
        return """
            \(Self.head)signature from pipectl, key \(keyID)
            \(line)
            \(Self.trustedHead)\(trustedComment)
            \(globalSignature.base64EncodedString())

            """
    }

    /// The trusted key that signed `file` and the trusted comment.
    ///
    /// - Throws: ``SigningError``: see ``TrustedKeys``.
    package func signer(of file: FileDigests, among trusted: TrustedKeys) throws(SigningError) -> PublicKey {
        let key = try trusted.signer(
            of: signature, for: .message(Data(file.blake2b)), claimed: keyID, algorithm: .ed25519)
        guard key.isValid(globalSignature, for: .message(signature + trustedComment.utf8)) else {
            throw SigningError(.badSignature, "the trusted comment was changed after the key \(key.id) had signed it")
        }
        return key
    }
}

/// What pipectl writes into minisign's trusted comment: fields with tabs between them.
///
/// `timestamp`, `file` and the word `hashed` are minisign's own.
package struct TrustedComment: Sendable, Equatable {
    package var file: String?
    package var version: String?
    package var commit: String?
    package var repository: String?

    package init(file: String, version: String?, commit: String?, repository: String?) {
        self.file = file
        self.version = version
        self.commit = commit
        self.repository = repository
    }

    /// - Parameter madeAt: Of the release; the clock would give the same release two signatures.
    package func text(madeAt: Date) -> String {
        var fields = ["timestamp:\(Int64(madeAt.timeIntervalSince1970))"]
        for (name, value) in [("file", file), ("version", version), ("commit", commit), ("repository", repository)] {
            if let value { fields.append("\(name):\(value)") }
        }
        return (fields + ["hashed"]).joined(separator: "\t")
    }

    /// Reads a comment, also of minisign itself.
    ///
    /// - Throws: ``SigningError`` with `duplicateKey` if a field is there twice.
    package init(_ text: String) throws(SigningError) {
        var fields: [Substring: String] = [:]
        for field in text.split(separator: "\t") {
            guard let colon = field.firstIndex(of: ":") else { continue }
            guard fields.updateValue(String(field[field.index(after: colon)...]), forKey: field[..<colon]) == nil else {
                throw SigningError(.duplicateKey, "the trusted comment has a field twice")
            }
        }
        file = fields["file"]
        version = fields["version"]
        commit = fields["commit"]
        repository = fields["repository"]
    }
}
