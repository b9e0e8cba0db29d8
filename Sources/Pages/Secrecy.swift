import Crypto
public import Foundation

/// Random values, and what is kept of secrets.
enum Secrecy {
    /// 256 random bits as hexadecimal digits.
    static func random() -> String { hex(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }) }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes { text += String(format: "%02x", byte) }
        return text
    }

    /// SHA-256 of a secret of 256 random bits: from such a digest nobody finds the secret.
    static func digest(_ secret: String) -> Data { Data(SHA256.hash(data: Data(secret.utf8))) }

    /// A code that proves that its maker knows `secret`, about `text`.
    static func code(_ text: String, by secret: String) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        return hex(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    /// Whether both are the same, found in a time that does not depend on where they differ.
    static func isEqual(_ one: Data, _ other: Data) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func isEqual(_ one: String, _ other: String) -> Bool { isEqual(Data(one.utf8), Data(other.utf8)) }
}

/// The text of a token for the pages and the API: `pipectl_`, an id that is no secret, and the secret. So programs that
/// look for leaked secrets recognise one: `pipectl_[0-9a-f]{72}`.
public struct AccessTokenText: Sendable {
    private static let prefix = "pipectl_"
    private static let idDigits = 8

    public let text: String

    /// A new one.
    public init() { text = Self.prefix + Secrecy.random().prefix(Self.idDigits) + Secrecy.random() }

    /// Nil for what is no token.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard text.hasPrefix(Self.prefix), digits.count == Self.idDigits + 64,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.text = text
    }

    public var id: String { String(text.dropFirst(Self.prefix.count).prefix(Self.idDigits)) }
    /// What the store keeps.
    public var digest: Data { Secrecy.digest(text) }
}
