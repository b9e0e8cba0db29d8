import Results

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads `tests.json` as pipectl writes it, some ten times as fast as Foundation's decoder: pages read it on request.
struct TestResultsReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    /// The results in a file; nil where it has anything else than what ``ArchiveJSON`` writes. Then a decoder has to read
    /// it, or to say what is wrong.
    static func read(_ bytes: [UInt8]) -> [TestResult]? {
        bytes.withUnsafeBufferPointer { bytes in
            var reader = TestResultsReader(bytes: bytes)
            return try? reader.results()
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private struct Unknown: Error {}

    private mutating func results() throws(Unknown) -> [TestResult] {
        var found: [TestResult] = []
        try take(UInt8(ascii: "["))
        if next() == UInt8(ascii: "]") {
            place += 1
        } else {
            repeat { found.append(try result()) } while try hasMore(until: UInt8(ascii: "]"))
        }
        guard next() == nil else { throw Unknown() }
        return found
    }

    private mutating func result() throws(Unknown) -> TestResult {
        var result = TestResult(suite: "", name: "", status: .passed)
        var seen: Key = []
        try take(UInt8(ascii: "{"))
        repeat {
            let key = try key()
            guard seen.isDisjoint(with: key) else { throw Unknown() }
            seen.formUnion(key)
            try take(UInt8(ascii: ":"))
            switch key {
            case .suite: result.suite = try string()
            case .name: result.name = try string()
            case .status:
                guard let status = TestResult.Status(rawValue: try string()) else { throw Unknown() }
                result.status = status
            case .attempt: result.attempt = try integer()
            case .duration: result.duration = try decimal()
            case .line: result.line = try integer()
            case .message: result.message = try string()
            case .details: result.details = try string()
            default: result.file = try string()
            }
        } while try hasMore(until: UInt8(ascii: "}"))
        guard seen.isSuperset(of: [.suite, .name, .status, .attempt]) else { throw Unknown() }
        return result
    }

    private struct Key: OptionSet {
        var rawValue: UInt16

        static let suite = Key(rawValue: 1)
        static let name = Key(rawValue: 2)
        static let status = Key(rawValue: 4)
        static let attempt = Key(rawValue: 8)
        static let duration = Key(rawValue: 16)
        static let line = Key(rawValue: 32)
        static let message = Key(rawValue: 64)
        static let details = Key(rawValue: 128)
        static let file = Key(rawValue: 256)

        static let named: [(name: StaticString, key: Key)] = [
            ("attempt", attempt), ("duration", duration), ("file", file), ("line", line), ("name", name),
            ("status", status), ("suite", suite), ("message", message), ("details", details),
        ]
    }

    private mutating func key() throws(Unknown) -> Key {
        try take(UInt8(ascii: "\""))
        for (name, key) in Key.named where isNext(name) {
            place += name.utf8CodeUnitCount + 1
            return key
        }
        throw Unknown()
    }

    /// Whether a string goes on with this text and then ends.
    private func isNext(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            let end = place + text.count
            guard end < bytes.count, bytes[end] == UInt8(ascii: "\""), let here = bytes.baseAddress,
                let wanted = text.baseAddress
            else { return false }
            return memcmp(here + place, wanted, text.count) == 0
        }
    }

    // MARK: Tokens

    /// The next byte that is no white space; nil at the end.
    private mutating func next() -> UInt8? {
        while place < bytes.count {
            let byte = bytes[place]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            place += 1
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) throws(Unknown) {
        guard next() == byte else { throw Unknown() }
        place += 1
    }

    /// Whether a comma follows, rather than the end of an object or list.
    private mutating func hasMore(until end: UInt8) throws(Unknown) -> Bool {
        let byte = next()
        guard byte == UInt8(ascii: ",") || byte == end else { throw Unknown() }
        place += 1
        return byte != end
    }

    private mutating func integer() throws(Unknown) -> Int {
        guard let value = Int(try number()) else { throw Unknown() }
        return value
    }

    private mutating func decimal() throws(Unknown) -> Double {
        guard let value = Double(try number()), value.isFinite else { throw Unknown() }
        return value
    }

    /// The text of a number. JSON has no `01` and no `1.`.
    private mutating func number() throws(Unknown) -> String {
        guard let first = next(), first == UInt8(ascii: "-") || isDigit(first) else { throw Unknown() }
        let start = place
        place += 1
        while place < bytes.count, isDigit(bytes[place]) || isOfNumber(bytes[place]) {
            if bytes[place - 1] == UInt8(ascii: "."), !isDigit(bytes[place]) { throw Unknown() }
            place += 1
        }
        let digits = bytes[start..<place].drop { $0 == UInt8(ascii: "-") }.prefix { isDigit($0) }
        guard isDigit(bytes[place - 1]), digits.count == 1 || digits.first != UInt8(ascii: "0") else { throw Unknown() }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// Whether a number may have this byte beside its digits.
    private func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private mutating func string() throws(Unknown) -> String {
        try take(UInt8(ascii: "\""))
        let start = place
        var isPlain = true
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            if bytes[place] < 0x20 { throw Unknown() }
            if bytes[place] == UInt8(ascii: "\\") {
                isPlain = false
                place += 1
            }
            place += 1
        }
        guard place < bytes.count else { throw Unknown() }
        let raw = UnsafeBufferPointer(rebasing: bytes[start..<place])
        place += 1
        let text = isPlain ? String(validating: raw, as: UTF8.self) : String(validating: try plain(raw), as: UTF8.self)
        guard let text else { throw Unknown() }
        return text
    }

    /// A string without its escapes.
    private func plain(_ raw: UnsafeBufferPointer<UInt8>) throws(Unknown) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(raw.count)
        var place = raw.startIndex
        while place < raw.endIndex {
            guard raw[place] == UInt8(ascii: "\\") else {
                plain.append(raw[place])
                place += 1
                continue
            }
            guard place + 1 < raw.endIndex else { throw Unknown() }
            switch raw[place + 1] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain.append(raw[place + 1])
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "u"):
                let digits = raw.dropFirst(place + 2).prefix(4)
                // Halves of pairs are left to the decoder.
                guard digits.count == 4, digits.allSatisfy({ isDigit($0) || (0x61...0x66).contains($0 | 0x20) }),
                    let scalar = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(
                        Unicode.Scalar.init),
                    let encoded = UTF8.encode(scalar)
                else { throw Unknown() }
                plain += encoded
                place += 4
            default: throw Unknown()
            }
            place += 2
        }
        return plain
    }
}
