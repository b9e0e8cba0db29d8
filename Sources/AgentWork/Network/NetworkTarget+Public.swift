package import SystemCalls

extension NetworkTarget {
    /// Whether the address is one of the internet at large, as IANA's registries of special addresses say: no address of
    /// this machine, of its network, of a cloud's service for machines, or of a group.
    ///
    /// An agent may name a host whose owner points it anywhere. So not the name is judged but the address, and the
    /// connection goes to the address that was judged.
    package var isPublic: Bool {
        switch address {
        case .four(let bytes): Self.isPublic(four: bytes)
        case .six(let bytes): Self.isPublic(six: bytes)
        }
    }

    private static func isPublic(four bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        let number = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return !special.contains { number >> (32 - $0.bits) == $0.network >> (32 - $0.bits) }
    }

    /// RFC 6890 and its successors; 224.0.0.0/3 are groups and what is reserved.
    private static let special: [(network: UInt32, bits: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15),
        (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 3),
    ]

    private static func isPublic(six bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        // 64:ff9b::/96 stands for an address of four bytes, in networks that have no others (RFC 6052).
        if bytes.prefix(12) == [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            return isPublic(four: Array(bytes.suffix(4)))
        }
        // 2000::/3 is all that is given out. In it are tunnels that lead to other addresses (Teredo, 6to4), and what is
        // for documentation.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        let start = UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
        let isSpecial =
            start >> 9 == 0x2001_0000 >> 9 || start == 0x2001_0DB8 || start >> 16 == 0x2002
            || start >> 12 == 0x3FFF_0000 >> 12
        return !isSpecial
    }
}
