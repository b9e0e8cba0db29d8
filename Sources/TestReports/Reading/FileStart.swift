import ForeignText

/// The first 64 KiB of a result file, from which formats are recognised.
struct FileStart {
    /// The name of the outermost XML element; nil if the file is not XML, or if the element is not in this part.
    let root: String?

    /// The attributes of ``root``.
    let rootAttributes: XMLAttributes

    /// The keys of the first JSON value, as paths: `results.tool`, `testResults[].name`. Empty if there is none.
    let keys: Set<String>

    /// This part of the file as text.
    let text: String

    /// The first lines that are not blank, at most 60.
    let lines: [Substring]

    private static let size = 64 << 10
    private static let tokenLimit = 4_000

    init(_ bytes: [UInt8]) {
        let bytes = Array(bytes.prefix(Self.size))
        text = String(cleaning: bytes)
        lines = text.split(separator: "\n", maxSplits: 200).prefix(200)
            .filter { !$0.allSatisfy(\.isWhitespace) }.prefix(60).map { $0.hasSuffix("\r") ? $0.dropLast() : $0 }
        (root, rootAttributes) = Self.root(bytes)
        keys = Self.keys(bytes)
    }

    /// The first byte that is not white space.
    var first: UInt8? { text.utf8.first { !$0.isXMLSpace } }

    func holdsAny(of words: [String]) -> Bool { words.contains { text.byteRange(of: $0) != nil } }

    private static func source(_ bytes: [UInt8]) -> ByteSource {
        var isFirst = true
        return ByteSource {
            defer { isFirst = false }
            return isFirst ? bytes : []
        }
    }

    private static func root(_ bytes: [UInt8]) -> (String?, XMLAttributes) {
        guard bytes.first(where: { !$0.isXMLSpace }) == UInt8(ascii: "<") else { return (nil, XMLAttributes()) }
        var tokens = XMLTokenizer(source(bytes), valueLimit: 1_024)
        while true {
            switch tokens.next() {
            case .start(let name, let attributes, _): return (name, attributes)
            case .text: continue
            case .end, .finished, .broken, .refused: return (nil, XMLAttributes())
            }
        }
    }

    private static func keys(_ bytes: [UInt8]) -> Set<String> {
        // Lines of other programs may come first.
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let first = bytes[start]
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                let found = keys(ofValueAt: Array(bytes[start...]))
                if !found.isEmpty { return found }
            }
            if first.isXMLSpace {
                start += 1
                continue
            }
            guard let end = bytes[start...].firstIndex(of: .newline) else { break }
            start = end + 1
        }
        return []
    }

    private static func keys(ofValueAt bytes: [UInt8]) -> Set<String> {
        var walk = JSONWalk(JSONTokenizer(source(bytes), valueLimit: 256, depth: 64))
        var keys: Set<String> = []
        for _ in 0..<tokenLimit {
            switch walk.next() {
            case .value(let path, _): if !path.isEmpty, path.utf8.count < 200 { keys.insert(path) }
            case .leave(let path): if path.isEmpty { return keys }
            case .finished, .broken: return keys
            }
        }
        return keys
    }
}
