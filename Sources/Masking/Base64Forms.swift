/// A text in base64 (RFC 4648): in both alphabets, and at each of the three positions that it can have among other
/// bytes.
enum Base64Forms {
    private static let standard = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafe = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let padding = UInt8(ascii: "=")

    static func of(_ text: [UInt8], isRich: Bool) -> [[UInt8]] {
        var forms: [[UInt8]] = []
        for alphabet in [standard, urlSafe] {
            for offset in 0..<3 {
                let (whole, last, pads) = characters(of: text, after: offset, alphabet)
                forms.append(whole)
                // If the encoded bytes end with the text, the last character depends on the text alone, too.
                if let last {
                    forms.append(whole + [last])
                    forms.append(whole + [last] + Array(repeating: padding, count: pads))
                }
            }
            // base64(1) breaks lines after 76 characters (RFC 2045), OpenSSL after 64 (RFC 7468).
            let (whole, last, pads) = characters(of: text, after: 0, alphabet)
            let all = last.map { whole + [$0] + Array(repeating: padding, count: pads) } ?? whole
            for width in isRich ? [76, 64] : [76] where alphabet == standard {
                forms += all.wrapped(at: width, joined: isRich)
            }
        }
        return forms
    }

    /// The forms that are common enough to be encoded once more: at each position among other bytes, with bytes after
    /// the text or without, in the standard alphabet; wrapped; and with the line feed that base64(1) prints.
    static func inner(of text: [UInt8]) -> [[UInt8]] {
        let lineFeed = UInt8(ascii: "\n")
        var forms: [[UInt8]] = []
        for offset in 0..<3 {
            let (whole, last, pads) = characters(of: text, after: offset, standard)
            let all = last.map { whole + [$0] + Array(repeating: padding, count: pads) } ?? whole
            forms += [whole, all]
            if offset == 0 { forms.append(Array(all.split(every: 76).joined(separator: [lineFeed])) + [lineFeed]) }
        }
        return forms
    }

    /// The characters that depend on `text` alone when `offset` unknown bytes precede it in its group of three; then
    /// the last character as it is if nothing follows, and the `=` after it.
    private static func characters(
        of text: [UInt8], after offset: Int, _ alphabet: [UInt8]
    ) -> (whole: [UInt8], last: UInt8?, pads: Int) {
        // The first character that has no bit of the preceding bytes.
        let firstBit = [0, 4, 2][offset]
        let bits = text.count * 8 - firstBit
        func value(at bit: Int) -> UInt8 {
            let byte = bit / 8
            let pair = UInt16(text[byte]) << 8 | (byte + 1 < text.count ? UInt16(text[byte + 1]) : 0)
            return alphabet[Int(pair >> UInt16(10 - bit % 8)) & 63]
        }
        let whole = (0..<bits / 6).map { value(at: firstBit + $0 * 6) }
        guard bits % 6 != 0 else { return (whole, nil, 0) }
        return (whole, value(at: firstBit + bits / 6 * 6), bits % 6 == 2 ? 2 : 1)
    }
}
