extension String {
    /// Bytes as lower-case hexadecimal digits.
    init(hexadecimal bytes: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        self.init(decoding: text, as: UTF8.self)
    }

    /// The bytes that pairs of hexadecimal digits of either case stand for; nil for any other text.
    var hexadecimalBytes: [UInt8]? {
        let digits = utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// Whether these are that many lower-case hexadecimal digits.
    func isHexadecimal(_ count: Int) -> Bool {
        utf8.count == count && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Whether the text is a SHA-256 in lower-case digits.
    var isSHA256: Bool { isHexadecimal(64) }

    /// Whether this is the name of a file in the same folder: no path, nothing that a terminal acts on.
    var isPlainName: Bool {
        (1...255).contains(utf8.count) && self != "." && self != ".." && !contains("/") && !contains("\\")
            && isPrintable
    }

    /// Whether no scalar of it moves a cursor, breaks a line, changes the direction or is invisible.
    var isPrintable: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
            default: true
            }
        }
    }
}
