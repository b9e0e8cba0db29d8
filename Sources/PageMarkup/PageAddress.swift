/// Addresses of the pages.
package enum PageAddress {
    /// A component of a path, encoded: all but letters, digits and `-._~`.
    package static func part(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + digit(byte >> 4) + digit(byte & 15)
            }
        }
        // A browser would resolve these two before it asks.
        return encoded == "." ? "%2E" : encoded == ".." ? "%2E%2E" : encoded
    }

    private static func digit(_ value: UInt8) -> String { String(value, radix: 16, uppercase: true) }
}
