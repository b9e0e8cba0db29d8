import Sandbox

/// Turns lists of texts into one digest; no two different lists give the same bytes.
package struct KeyDigest {
    /// One piece of memory for the hash: its own calls cost more than hashing what most texts are.
    private var bytes: [UInt8] = []

    /// The length goes first, so that the borders between texts can't move.
    mutating func add(_ text: String) {
        bytes.append(contentsOf: String(text.utf8.count).utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ texts: some Collection<String>) {
        add("\(texts.count) of")
        for text in texts { add(text) }
    }

    /// A list that was put into bytes before.
    mutating func add(_ list: List) { bytes.append(contentsOf: list.bytes) }

    /// 64 digits, lower-case hexadecimal.
    func hex() -> String { FileDigest.of(bytes) }

    /// The digest of a list of texts whose borders can't move: 64 digits, lower-case hexadecimal.
    package static func of(_ texts: some Collection<String>) -> String {
        var digest = KeyDigest()
        digest.add(texts)
        return digest.hex()
    }

    /// Lists of texts as they go into a digest, for those that many digests have in them.
    struct List {
        fileprivate let bytes: [UInt8]
        /// Of these lists alone.
        let hex: String

        init(_ lists: [String]...) {
            var digest = KeyDigest()
            for list in lists { digest.add(list) }
            bytes = digest.bytes
            hex = digest.hex()
        }
    }

    /// Names and values, whatever their order was.
    static func lines(_ values: [String: String]) -> [String] {
        values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
}
