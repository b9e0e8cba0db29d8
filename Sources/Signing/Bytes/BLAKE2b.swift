/// BLAKE2b without a key (RFC 7693), which minisign signs instead of a file.
///
/// swift-crypto has no BLAKE2b-512: BoringSSL has it with 256 bits only.
package struct BLAKE2b {
    private var state = Self.start
    private var block = [UInt8](repeating: 0, count: Self.blockSize)
    /// The bytes of ``block`` that wait.
    private var filled = 0
    /// All bytes up to the last compressed block. A file of 2^64 bytes does not exist.
    private var total: UInt64 = 0
    private let length: Int

    private static let blockSize = 128
    private static let start: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    /// Which word of the message goes where, for ten rounds; two more repeat the first two.
    private static let order: [UInt8] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
        11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
        7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
        9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
        2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
        12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
        13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
        6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
        10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
    ]
    /// The four words of the state that each of the eight mixings of a round takes.
    private static let mixings: [(Int, Int, Int, Int)] = [
        (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
        (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
    ]

    /// - Parameter length: The digest's bytes, 1 to 64.
    package init(length: Int = 64) {
        self.length = min(max(length, 1), 64)
        state[0] ^= 0x0101_0000 ^ UInt64(self.length)
    }

    /// The digest of bytes in memory.
    package static func hash(_ bytes: some Sequence<UInt8>, length: Int = 64) -> [UInt8] {
        var hash = BLAKE2b(length: length)
        Array(bytes).withUnsafeBytes { hash.update($0) }
        return hash.finalize()
    }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The last block is compressed in another way, so a full one waits for the next byte.
            if filled == Self.blockSize {
                total += UInt64(Self.blockSize)
                compress(isLast: false)
                filled = 0
            }
            let count = min(Self.blockSize - filled, rest.count)
            let start = filled
            block.withUnsafeMutableBytes { block in
                UnsafeMutableRawBufferPointer(rebasing: block[start..<start + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            }
            filled += count
            rest = rest.dropFirst(count)
        }
    }

    /// The digest. Nothing may be added afterwards.
    package mutating func finalize() -> [UInt8] {
        total += UInt64(filled)
        for index in filled..<Self.blockSize { block[index] = 0 }
        compress(isLast: true)
        let bytes = state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        return Array(bytes.prefix(length))
    }

    private mutating func compress(isLast: Bool) {
        let order = Self.order
        let mixings = Self.mixings
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 32) { words in
            for index in 0..<8 {
                words[index] = state[index]
                words[index + 8] = Self.start[index]
            }
            words[12] ^= total
            if isLast { words[14] = ~words[14] }
            block.withUnsafeBytes { block in
                for index in 0..<16 {
                    words[index + 16] = UInt64(
                        littleEndian: block.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
                }
            }
            for round in 0..<12 {
                let line = round % 10 * 16
                for (index, places) in mixings.enumerated() {
                    Self.mix(
                        words, places, words[16 + Int(order[line + 2 * index])],
                        words[16 + Int(order[line + 2 * index + 1])])
                }
            }
            for index in 0..<8 { state[index] ^= words[index] ^ words[index + 8] }
        }
    }

    @inline(__always)
    private static func mix(
        _ words: UnsafeMutableBufferPointer<UInt64>, _ places: (Int, Int, Int, Int), _ x: UInt64, _ y: UInt64
    ) {
        var (a, b, c, d) = (words[places.0], words[places.1], words[places.2], words[places.3])
        a = a &+ b &+ x
        d = rotated(d ^ a, 32)
        c = c &+ d
        b = rotated(b ^ c, 24)
        a = a &+ b &+ y
        d = rotated(d ^ a, 16)
        c = c &+ d
        b = rotated(b ^ c, 63)
        (words[places.0], words[places.1], words[places.2], words[places.3]) = (a, b, c, d)
    }

    @inline(__always)
    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word >> count | word << (64 - count) }
}
