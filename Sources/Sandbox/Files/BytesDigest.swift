import Crypto

/// The digest that identifies stored artifacts.
package enum BytesDigest {
    /// SHA-256 as lower-case hexadecimal text.
    package static func sha256(_ bytes: [UInt8]) -> String { FileDigest.hex(SHA256.hash(data: bytes)) }
}
