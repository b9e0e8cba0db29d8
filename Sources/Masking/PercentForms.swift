/// A text with percent-encoding (RFC 3986), as common libraries write it.
enum PercentForms {
    /// The characters that remain unencoded, besides letters and digits.
    private static let kept = [
        "-._~",  // all but unreserved characters
        "-._~!*'()",  // encodeURIComponent
        "-._~/",  // Python's quote
        "-._~!*'();/?:@&=+$,#",  // encodeURI
        "*-._",  // application/x-www-form-urlencoded, where a space becomes +
    ].map { Set($0.utf8) }

    static func of(_ text: [UInt8], isRich: Bool) -> [[UInt8]] {
        [HexForms.lower, HexForms.upper].flatMap { digits in
            [encoded(text, digits) { _ in false }]
                + (isRich ? kept : [kept[0]]).map { kept in
                    encoded(text, digits, hasPlus: !kept.contains(UInt8(ascii: "~"))) {
                        $0.isLetterOrDigit || kept.contains($0)
                    }
                }
        }
    }

    /// The encoding of common libraries: everything except unreserved characters is encoded.
    static func usual(_ text: [UInt8]) -> [[UInt8]] {
        [HexForms.lower, HexForms.upper].map { digits in
            encoded(text, digits) { $0.isLetterOrDigit || kept[0].contains($0) }
        }
    }

    private static func encoded(
        _ text: [UInt8], _ digits: [UInt8], hasPlus: Bool = false, keeping isKept: (UInt8) -> Bool
    ) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count * 3)
        for byte in text {
            if isKept(byte) {
                result.append(byte)
            } else if hasPlus && byte == UInt8(ascii: " ") {
                result.append(UInt8(ascii: "+"))
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 15)])
            }
        }
        return result
    }
}

extension UInt8 {
    /// Whether it is an ASCII letter or digit.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
