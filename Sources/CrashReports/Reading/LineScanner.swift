import ForeignText

/// Reads one line from left to right, byte by byte; nothing of it is looked at twice.
struct LineScanner {
    private(set) var rest: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// What is left.
    var text: String { String(decoding: rest, as: UTF8.self) }

    mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    /// Goes past `text` if it comes next.
    mutating func take(_ text: StaticString) -> Bool {
        let isNext = text.withUTF8Buffer { rest.starts(with: $0) }
        if isNext { rest = rest.dropFirst(text.utf8CodeUnitCount) }
        return isNext
    }

    /// A decimal number of at most nine digits.
    mutating func number() -> Int? {
        let digits = rest.prefix { $0.isDigit }
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        rest = rest[digits.endIndex...]
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// A decimal number of any size.
    mutating func longNumber() -> UInt64? {
        let digits = rest.prefix { $0.isDigit }
        guard let value = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
        rest = rest[digits.endIndex...]
        return value
    }

    /// A number such as `0x1f`.
    mutating func hexadecimal() -> UInt64? {
        guard rest.starts(with: [0x30, 0x78]) else { return nil }
        let digits = rest.dropFirst(2).prefix { $0.isHexadecimalDigit }
        guard let value = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
        rest = rest[digits.endIndex...]
        return value
    }

    /// What comes before white space.
    mutating func word() -> String {
        let word = rest.prefix { $0 != 0x20 && $0 != 0x09 }
        rest = rest[word.endIndex...]
        return String(decoding: word, as: UTF8.self)
    }

    /// The bytes up to `byte`, which is skipped; nil if it does not come.
    mutating func until(_ byte: UInt8) -> String? {
        guard let end = rest.firstIndex(of: byte) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }
}

extension UInt8 {
    var isHexadecimalDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }
}
