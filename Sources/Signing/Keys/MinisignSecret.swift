internal import Crypto
internal import CryptoExtras
import Foundation

/// The bytes of minisign's secret key file: algorithms, the parameters of scrypt, and the key, which may be encrypted.
struct MinisignSecret {
    /// All of it, in bytes.
    static let size = 158

    private static let none: [UInt8] = [0, 0]
    private static let scrypt = Array("Sc".utf8)
    /// What minisign itself uses; more would be an attack on this machine's memory.
    private static let memoryLimit: UInt64 = 1 << 30
    private static let workLimit: UInt64 = 1 << 26

    let id: KeyID
    let key: Curve25519.Signing.PrivateKey

    init(id: KeyID, key: Curve25519.Signing.PrivateKey) {
        self.id = id
        self.key = key
    }

    /// - Throws: ``SigningError`` with `badKey`, `encryptedKey` or `wrongPassphrase`.
    init(_ bytes: [UInt8], passphrase: String?) throws(SigningError) {
        guard bytes.count == Self.size, bytes.starts(with: "Ed".utf8), bytes[4..<6].elementsEqual("B2".utf8) else {
            throw SigningError(.badKey, "this is no secret key of minisign")
        }
        let derivation = Array(bytes[2..<4])
        var secret = Array(bytes[54...])
        switch derivation {
        case Self.none: break
        case Self.scrypt:
            guard let passphrase, !passphrase.isEmpty else {
                throw SigningError(
                    .encryptedKey,
                    "the secret key is encrypted: give its passphrase, or make one without with minisign -C -W")
            }
            let stream = try Self.stream(
                passphrase, Array(bytes[6..<38]), Self.number(bytes[38..<46]), Self.number(bytes[46..<54]))
            for index in secret.indices { secret[index] ^= stream[index] }
        default: throw SigningError(.badKey, "the secret key is encrypted in a way that minisign does not have")
        }
        let check = BLAKE2b.hash(Array(bytes[..<2]) + secret[..<72], length: 32)
        let stored = secret[72...]
        // minisign leaves the check of a key without a passphrase empty.
        let isUnchecked = derivation == Self.none && stored.allSatisfy { $0 == 0 }
        guard isUnchecked || stored.elementsEqual(check) else {
            throw SigningError(.wrongPassphrase, "the passphrase does not open the secret key, or the key is damaged")
        }
        guard let id = KeyID(bytes: secret[..<8]),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret[8..<40]),
            key.publicKey.rawRepresentation.elementsEqual(secret[40..<72])
        else { throw SigningError(.badKey, "the two halves of the secret key do not belong together") }
        self.init(id: id, key: key)
    }

    /// The whole, without encryption, as `minisign -G -W` writes it.
    var bytes: Data {
        Data("Ed".utf8) + Self.none + Data("B2".utf8) + Data(count: 48) + id.bytes + key.rawRepresentation
            + key.publicKey.rawRepresentation + Data(count: 32)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// What the key was combined with. The parameters follow from two limits as in libsodium's
    /// `crypto_pwhash_scryptsalsa208sha256`.
    private static func stream(
        _ passphrase: String, _ salt: [UInt8], _ work: UInt64, _ memory: UInt64
    ) throws(SigningError) -> [UInt8] {
        guard work <= workLimit, memory <= memoryLimit else {
            throw SigningError(
                .badKey, "decrypting the secret key would take more memory or time than minisign's own keys")
        }
        let work = max(work, 32_768)
        let isBoundByWork = work < memory / 32
        let most = isBoundByWork ? work / 32 : memory / 1_024
        var rounds: UInt64 = 2
        while rounds <= most / 2 { rounds *= 2 }
        let parallelism = isBoundByWork ? 1 : max(1, work / 4 / rounds / 8)
        let derived = try? KDF.Scrypt.deriveKey(
            from: Array(passphrase.utf8), salt: salt, outputByteCount: 104, rounds: Int(rounds), blockSize: 8,
            parallelism: Int(parallelism))
        guard let derived else {
            throw SigningError(.badKey, "the secret key can't be decrypted with the parameters that it names")
        }
        return derived.withUnsafeBytes { Array($0) }
    }
}
