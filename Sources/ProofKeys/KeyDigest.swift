import Sandbox

/// Hashes lists of texts. Two different lists never feed the same bytes to the hash.
package struct KeyDigest {
    /// All texts are collected in one buffer: a call of the hash costs more than hashing a short text.
    private var bytes: [UInt8] = []

    /// The length comes first, so that the borders between texts are unambiguous.
    mutating func add(_ text: String) {
        bytes.append(contentsOf: String(text.utf8.count).utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ texts: some Collection<String>) {
        add("\(texts.count) of")
        for text in texts { add(text) }
    }

    /// Adds a list that was encoded before.
    mutating func add(_ list: List) { bytes.append(contentsOf: list.bytes) }

    /// 64 digits, lower-case hexadecimal.
    func hex() -> String { FileDigest.of(bytes) }

    /// The digest of a list of texts, with unambiguous borders between them: 64 digits, lower-case hexadecimal.
    package static func of(_ texts: some Collection<String>) -> String {
        var digest = KeyDigest()
        digest.add(texts)
        return digest.hex()
    }

    /// Encoded lists of texts that many digests have in common.
    struct List {
        fileprivate let bytes: [UInt8]
        /// The digest of these lists alone.
        let hex: String

        init(_ lists: [String]...) {
            var digest = KeyDigest()
            for list in lists { digest.add(list) }
            bytes = digest.bytes
            hex = digest.hex()
        }
    }

    /// Names and values in an order that does not depend on the dictionary.
    static func lines(_ values: [String: String]) -> [String] {
        values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
}
