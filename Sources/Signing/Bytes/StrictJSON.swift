package import Foundation

/// Reads JSON (RFC 8259) of which a decision depends: there is one way to read it, or none.
///
/// Foundation's decoder takes an object with the same key twice, of which another program may see the other value. What
/// passes here has no such object, is UTF-8, is bounded in depth, and has nothing before or after the value.
package struct StrictJSON {
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    /// The most objects and arrays that may be open at the same time.
    private static let depthLimit = 32

    private init(_ data: Data) { bytes = Array(data) }

    /// Decodes a value. Times are in ISO 8601.
    ///
    /// - Throws: ``SigningError`` with `malformed` or `duplicateKey`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, named name: String
    ) throws(SigningError) -> Value {
        try check(data, named: name)
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(type, from: data)
        } catch {
            throw SigningError(.malformed, "\(name) is JSON with other fields than it must have: \(Self.place(error))")
        }
    }

    /// Throws unless the bytes are one JSON value without doubt.
    package static func check(_ data: Data, named name: String) throws(SigningError) {
        guard data.first != 0xEF, String(validating: data, as: UTF8.self) != nil else {
            throw SigningError(.malformed, "\(name) is no JSON in UTF-8 without a byte order mark")
        }
        var reader = StrictJSON(data)
        do throws(SigningError) {
            try reader.value()
            reader.skipSpace()
            guard reader.index == reader.bytes.count else { throw reader.broken() }
        } catch { throw SigningError(error.code, "\(name) \(error.description)") }
    }

    /// A value as deterministic JSON: sorted keys, no spaces, times in ISO 8601.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value)
    }

    /// Where a decoder stopped, without the foreign text that it found there.
    private static func place(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): path(context.codingPath + [key]) + " is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            path(context.codingPath) + " has a value of another kind"
        default: "they can't be read"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "the whole" : keys.prefix(8).map { String($0.stringValue.prefix(60)) }.joined(separator: ".")
    }

    // MARK: Grammar

    private func broken() -> SigningError { SigningError(.malformed, "is no JSON from byte \(index) on") }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: Character) throws(SigningError) {
        guard next == byte.asciiValue else { throw broken() }
        index += 1
    }

    private mutating func value() throws(SigningError) {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func enter() throws(SigningError) {
        depth += 1
        index += 1
        guard depth <= Self.depthLimit else {
            throw SigningError(.malformed, "nests more than \(Self.depthLimit) values")
        }
        skipSpace()
    }

    private mutating func object() throws(SigningError) {
        try enter()
        var keys: Set<String> = []
        if next != UInt8(ascii: "}") {
            while true {
                skipSpace()
                let key = try string()
                guard keys.insert(key).inserted else {
                    throw SigningError(.duplicateKey, "has a key twice in one object, at byte \(index)")
                }
                skipSpace()
                try take(":")
                try value()
                skipSpace()
                guard next == UInt8(ascii: ",") else { break }
                index += 1
            }
        }
        try take("}")
        depth -= 1
    }

    private mutating func array() throws(SigningError) {
        try enter()
        if next != UInt8(ascii: "]") {
            while true {
                try value()
                skipSpace()
                guard next == UInt8(ascii: ",") else { break }
                index += 1
            }
        }
        try take("]")
        depth -= 1
    }

    private mutating func word(_ word: StaticString) throws(SigningError) {
        for byte in "\(word)".utf8 {
            guard next == byte else { throw broken() }
            index += 1
        }
    }

    private mutating func digits() throws(SigningError) {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw broken() }
    }

    private mutating func number() throws(SigningError) {
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
    }

    /// The text of a string, with its escapes resolved, so that `"a"` and `"\u0061"` are the same key.
    private mutating func string() throws(SigningError) -> String {
        try take("\"")
        var units: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): units += try escaped().utf8
            case 0..<0x20: throw broken()
            default: units.append(byte)
            }
        }
        throw broken()
    }

    private mutating func escaped() throws(SigningError) -> String {
        let byte = next
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte ?? 0))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            guard UTF16.isLeadSurrogate(first) || UTF16.isTrailSurrogate(first) else {
                return String(decoding: [first], as: UTF16.self)
            }
            // Half of a pair is no text: readers make different things of it.
            try take("\\")
            try take("u")
            let second = try unit()
            guard UTF16.isLeadSurrogate(first), UTF16.isTrailSurrogate(second) else { throw broken() }
            return String(decoding: [first, second], as: UTF16.self)
        default: throw broken()
        }
    }

    private mutating func unit() throws(SigningError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw broken()
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
