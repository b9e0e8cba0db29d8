/// A text as hexadecimal digits.
enum HexForms {
    static let lower = Array("0123456789abcdef".utf8)
    static let upper = Array("0123456789ABCDEF".utf8)

    static func of(_ text: [UInt8], isRich: Bool) -> [[UInt8]] {
        var forms: [[UInt8]] = []
        for digits in [lower, upper] {
            let pairs = text.map { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
            let all = Array(pairs.joined())
            forms.append(all)
            guard isRich else { continue }
            // Wrapped as by `xxd -p`, and with separators between the bytes as in fingerprints and dumps.
            forms += all.wrapped(at: 60, joined: true)
            for separator in [":", " ", "\\x"] { forms.append(Array(pairs.joined(separator: Array(separator.utf8)))) }
        }
        return forms
    }
}
