/// Escapes characters that JSON allows in strings, but that act on a terminal or are invisible.
enum JSONEscapes {
    /// The same JSON with `\u…` for DEL, C1 controls, direction marks and scalars without width.
    ///
    /// JSON has these only in strings (RFC 8259, 2 and 7), so every reader gets the same value. MCP clients may show
    /// messages as they arrive, or log them.
    static func applied(to json: [UInt8]) -> [UInt8] {
        // In UTF-8 all of these begin with one of four bytes, which are rare.
        guard json.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 || $0 == 0xEF }) else {
            return json
        }
        var output: [UInt8] = []
        output.reserveCapacity(json.count + 64)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if isHidden(scalar) {
                let digits = String(scalar.value, radix: 16)
                output += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            } else {
                output += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        return output
    }

    /// All of these are below U+10000, so four digits are enough.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
