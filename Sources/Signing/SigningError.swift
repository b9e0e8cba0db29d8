/// Why a key, a signature or a side file of a release can't be used.
package struct SigningError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a program switches on. A release can be refused with the same codes.
    package struct Code: RawRepresentable, Sendable, Hashable, Codable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        private init(_ value: String) { rawValue = value }

        /// A file can't be opened or read, or is no regular file.
        package static let unreadable = Code("unreadable")
        /// A file is larger than any of its kind.
        package static let tooLarge = Code("too-large")
        /// Bytes are not in the form that they must have.
        package static let malformed = Code("malformed")
        /// A JSON object has a key twice: two readers could see two different values.
        package static let duplicateKey = Code("duplicate-key")
        /// A form of another kind, or an algorithm that is not accepted here.
        package static let wrongKind = Code("wrong-kind")
        /// A later version of pipectl wrote this form.
        package static let newerFormat = Code("newer-format")
        /// A name has a folder in it, is no plain text, or is empty.
        package static let badName = Code("bad-name")
        /// A list has a name twice.
        package static let duplicateName = Code("duplicate-name")

        /// A text is no key in a form that is read.
        package static let badKey = Code("bad-key")
        /// A secret key was given where a public key belongs.
        package static let secretKey = Code("secret-key")
        /// A secret key is encrypted, and there is no passphrase, or it can't be decrypted here.
        package static let encryptedKey = Code("encrypted-key")
        /// The passphrase does not open the secret key, or the key is damaged.
        package static let wrongPassphrase = Code("wrong-passphrase")
        /// A key of this algorithm can't make this form.
        package static let unfitKey = Code("unfit-key")
        /// A command that signs failed, took too long, or printed no signature.
        package static let signerFailed = Code("signer-failed")

        /// The signature was made with a key that is not trusted here.
        package static let unknownKey = Code("unknown-key")
        /// The signature was made with a key that was revoked.
        package static let revokedKey = Code("revoked-key")
        /// The signature does not belong to these bytes.
        package static let badSignature = Code("bad-signature")
        /// The signature names another key than the one that made it.
        package static let keyMismatch = Code("key-mismatch")
        /// An envelope has more or fewer than one signature.
        package static let signatureCount = Code("signature-count")

        package var description: String { rawValue }
    }

    package let code: Code
    /// What is wrong, and what to do next. Foreign text in it is not escaped yet.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
