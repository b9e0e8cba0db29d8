/// How a result file's characters became bytes.
package enum TextEncoding: Equatable {
    case utf8
    case utf16LittleEndian
    case utf16BigEndian
    /// Also read for ISO-8859-1 and ASCII labels, as browsers do: the two differ only in control characters.
    case windows1252
    /// A label or mark we have no table for; the text says which.
    case unknown(String)

    /// The encoding of a file that starts with `head`, and how many of those bytes are a byte order mark.
    ///
    /// The order is that of XML 1.0, appendix F: a mark, then the shape of `<`, then the declaration's label.
    package static func detect(_ head: some Collection<UInt8>) -> (encoding: TextEncoding, mark: Int) {
        let start = Array(head.prefix(256))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if start.starts(with: [0xFF, 0xFE, 0, 0]) || start.starts(with: [0, 0, 0xFE, 0xFF]) {
            return (.unknown("UTF-32"), 4)
        }
        if start.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        if start.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        if start.count >= 4, start[0] != 0, start[1] == 0, start[2] != 0, start[3] == 0 {
            return (.utf16LittleEndian, 0)
        }
        if start.count >= 4, start[0] == 0, start[1] != 0, start[2] == 0, start[3] != 0 { return (.utf16BigEndian, 0) }
        return (label(declaredIn: start).map(encoding(labelled:)) ?? .utf8, 0)
    }

    private static func label(declaredIn start: [UInt8]) -> String? {
        let text = String(decoding: start, as: UTF8.self)
        guard text.hasPrefix("<?xml"), let end = text.byteRange(of: "?>"),
            let key = text[..<end.lowerBound].byteRange(of: "encoding")
        else { return nil }
        let rest = text[key.upperBound..<end.lowerBound].drop { $0 == " " || $0 == "=" || $0 == "\t" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return String(rest.dropFirst().prefix { $0 != quote })
    }

    private static func encoding(labelled label: String) -> TextEncoding {
        switch label.lowercased() {
        // A file whose declaration we could read byte by byte is not UTF-16, whatever it says.
        case "", "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be": .utf8
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "cp-1252":
            .windows1252
        default: .unknown(label)
        }
    }
}

/// Turns chunks of a file into chunks of UTF-8, whatever they were.
///
/// UTF-8 passes as it is; what is invalid in it becomes U+FFFD where a `String` is made.
package struct TextDecoder {
    private let encoding: TextEncoding
    private var oddByte: UInt8?
    private var highSurrogate: UInt16?

    package init(_ encoding: TextEncoding) {
        self.encoding = encoding
    }

    /// Turns a chunk into UTF-8. A character that is not complete yet stays for the next chunk.
    package mutating func decode(_ chunk: [UInt8]) -> [UInt8] {
        switch encoding {
        case .utf8, .unknown: return chunk
        case .windows1252:
            var result: [UInt8] = []
            result.reserveCapacity(chunk.count + chunk.count / 8)
            for byte in chunk { Self.append(Self.windows1252(byte), to: &result) }
            return result
        case .utf16LittleEndian, .utf16BigEndian: return decodeUTF16(chunk)
        }
    }

    private mutating func decodeUTF16(_ chunk: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(chunk.count)
        for byte in chunk {
            guard let first = oddByte else {
                oddByte = byte
                continue
            }
            oddByte = nil
            let unit =
                encoding == .utf16LittleEndian
                ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte)
            if let high = highSurrogate {
                highSurrogate = nil
                if 0xDC00...0xDFFF ~= unit {
                    let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                    Self.append(Unicode.Scalar(value) ?? "\u{FFFD}", to: &result)
                    continue
                }
                Self.append("\u{FFFD}", to: &result)
            }
            if 0xD800...0xDBFF ~= unit {
                highSurrogate = unit
            } else {
                Self.append(Unicode.Scalar(unit) ?? "\u{FFFD}", to: &result)
            }
        }
        // An empty chunk means the end to whoever pulls; one byte of a pair is not the end.
        return result.isEmpty && !chunk.isEmpty ? [0x20] : result
    }

    /// Appends a scalar as UTF-8.
    package static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        if scalar.value < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        } else {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    /// Bytes 0x80 to 0x9F: https://encoding.spec.whatwg.org/index-windows-1252.txt
    private static let upper: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2C6}",
        "\u{2030}", "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}", "\u{90}", "\u{2018}",
        "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}", "\u{2DC}", "\u{2122}", "\u{161}",
        "\u{203A}", "\u{153}", "\u{9D}", "\u{17E}", "\u{178}",
    ]

    private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
        0x80...0x9F ~= byte ? upper[Int(byte - 0x80)] : Unicode.Scalar(byte)
    }
}
