import CGit

/// The id of a Git object: its SHA-1 as 20 bytes, compared and sorted like its hexadecimal form.
public struct OID: Hashable, Sendable {
    private let high: UInt64
    private let middle: UInt64
    private let low: UInt32

    /// Reads exactly 40 hexadecimal digits in upper or lower case; nil for anything else, including abbreviations.
    public init?(hex: String) {
        let digits = hex.utf8
        guard digits.count == 40 else { return nil }
        let start = digits.startIndex
        let first = digits.index(start, offsetBy: 16)
        let second = digits.index(start, offsetBy: 32)
        guard let high = Self.number(digits[start..<first]), let middle = Self.number(digits[first..<second]),
            let low = Self.number(digits[second...])
        else { return nil }
        self.high = high
        self.middle = middle
        self.low = UInt32(truncatingIfNeeded: low)
    }

    /// Reads the digits in place, without making a string of them.
    package init?(hex digits: UnsafeRawBufferPointer) {
        guard digits.count == 40 else { return nil }
        func number(_ places: Range<Int>) -> UInt64? {
            var value: UInt64 = 0
            for place in places {
                let byte = digits[place]
                let letter = byte | 0x20
                let nibble: UInt8
                if byte &- 0x30 < 10 {
                    nibble = byte &- 0x30
                } else if letter &- 0x61 < 6 {
                    nibble = letter &- 0x57
                } else {
                    return nil
                }
                value = value << 4 | UInt64(nibble)
            }
            return value
        }
        guard let high = number(0..<16), let middle = number(16..<32), let low = number(32..<40) else { return nil }
        self.high = high
        self.middle = middle
        self.low = UInt32(truncatingIfNeeded: low)
    }

    init(_ raw: git_oid) {
        var bytes = raw.id
        (high, middle, low) = withUnsafeBytes(of: &bytes) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
            )
        }
    }

    /// The id as libgit2 holds it.
    var raw: git_oid {
        var raw = git_oid()
        withUnsafeMutableBytes(of: &raw.id) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: middle.bigEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
        return raw
    }

    /// Reads the 20 bytes at an offset, which the caller has checked to be there.
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.init(bytes.loadUnaligned(fromByteOffset: offset, as: git_oid.self))
    }

    /// Reads 20 bytes; nil for any other number.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 20 else { return nil }
        var raw = git_oid()
        withUnsafeMutableBytes(of: &raw.id) { $0.copyBytes(from: bytes) }
        self.init(raw)
    }

    /// All 20 bytes.
    package var bytes: [UInt8] {
        var bytes = raw.id
        return withUnsafeBytes(of: &bytes) { Array($0) }
    }

    /// All 40 digits, lower case.
    public var hex: String {
        String(unsafeUninitializedCapacity: 40) { text in
            for digit in 0..<40 {
                let nibble =
                    switch digit {
                    case ..<16: high >> UInt64(60 - digit * 4)
                    case ..<32: middle >> UInt64(60 - (digit - 16) * 4)
                    default: UInt64(low) >> UInt64(28 - (digit - 32) * 4)
                    }
                let value = UInt8(truncatingIfNeeded: nibble & 0xF)
                text[digit] = value < 10 ? 0x30 + value : 0x57 + value
            }
            return 40
        }
    }

    /// The first 10 digits, for people. Don't look up objects with it.
    public var short: String { String(hex.prefix(10)) }

    private static func number(_ digits: Substring.UTF8View) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x41...0x46: value = value << 4 | UInt64(digit - 0x37)
            case 0x61...0x66: value = value << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return value
    }
}

extension OID: Comparable {
    public static func < (one: OID, other: OID) -> Bool {
        (one.high, one.middle, one.low) < (other.high, other.middle, other.low)
    }
}

extension OID: CustomStringConvertible {
    public var description: String { hex }
}

extension OID: Codable {
    /// Reads the id from its 40 digits.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = OID(hex: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not a commit id; it must be 40 hexadecimal digits.")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
