internal import Crypto

/// The eight bytes by which minisign names a key. They are a name only: what a key is worth is decided by its bytes.
package struct KeyID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// As they are in minisign's files, which is the reverse of what it shows.
    let bytes: [UInt8]

    /// - Parameter bytes: Eight bytes in the order of minisign's files; nil for another number.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads what ``description`` gives, in either case; nil for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == 16, let bytes = text.hexadecimalBytes else { return nil }
        self.bytes = bytes.reversed()
    }

    /// The name of a key that has none: the start of its SHA-256, as a `SubjectPublicKeyInfo`.
    init(fingerprintOf information: some Sequence<UInt8>) {
        bytes = Array(SHA256.hash(data: Array(information)).prefix(8))
    }

    /// As minisign shows it: sixteen upper-case hexadecimal digits.
    package var description: String { String(hexadecimal: bytes.reversed()).uppercased() }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = KeyID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no key id")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
