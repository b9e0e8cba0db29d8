/// Says how far ahead the next form can begin, from four bytes at a time.
///
/// All forms are looked at through a window of their first bytes. Four bytes of text at the window's end that are
/// nowhere in any form's window say that no form begins before them (Wu and Manber, TR 94-17, University of Arizona).
/// Four rather than three, because hundreds of secrets' base64 holds most groups of three letters.
struct FormFilter: Sendable {
    /// Bytes of each form that are looked at.
    private let window: Int
    private let bits: UInt32
    /// For each value of four bytes, folded to ``bits`` bits: how many bytes can be skipped.
    private let skips: [UInt8]

    /// - Parameter forms: Case-folded.
    init(_ forms: [[UInt8]]) {
        let window = min(max(forms.map(\.count).min() ?? SecretForms.shortest, 4), 12)
        let starts = Set(forms.map { Array($0.prefix(window)) })
        let groups = window - 3
        // At most one place of sixteen is taken, while the table fits a processor's second cache.
        var bits: UInt32 = 16
        while bits < 20, starts.count * groups > 1 << (bits - 4) { bits += 2 }
        var skips = [UInt8](repeating: UInt8(groups), count: 1 << bits)
        for form in starts {
            for start in 0..<groups {
                let four = (0..<4).reduce(UInt32(0)) { $0 | UInt32(form[start + $1]) << UInt32(8 * $1) }
                let place = Skips.fold(four, bits)
                skips[place] = min(skips[place], UInt8(groups - 1 - start))
            }
        }
        (self.window, self.bits, self.skips) = (window, bits, skips)
    }

    func withSkips<Result>(_ body: (Skips) -> Result) -> Result {
        skips.withUnsafeBufferPointer { body(Skips(window: window, bits: bits, table: $0)) }
    }

    /// The filter while its table stays in place.
    struct Skips {
        let window: Int
        let bits: UInt32
        let table: UnsafeBufferPointer<UInt8>

        /// The place of four bytes in the table, the same for both cases of a letter.
        @inline(__always) static func fold(_ four: UInt32, _ bits: UInt32) -> Int {
            Int(((four | 0x2020_2020) &* 0x9E37_79B1) &>> (32 &- bits))
        }

        /// The first position at which a form may begin, or one so near the end that this can't be told.
        @inline(__always)
        func skip(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
            guard let table = table.baseAddress else { return start }
            let text = UnsafeRawPointer(base)
            let last = end - window
            var position = start
            while position <= last {
                let four = UInt32(
                    littleEndian: text.loadUnaligned(fromByteOffset: position + window - 4, as: UInt32.self))
                let skip = table[Skips.fold(four, bits)]
                if skip == 0 { break }
                position &+= Int(skip)
            }
            return min(position, end)
        }
    }
}
