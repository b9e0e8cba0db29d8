/// Tells how far ahead the next form can begin, by looking at four bytes at a time.
///
/// Only a window of each form's first bytes is considered. If four bytes of text, at the end of the window, occur in no
/// form's window, then no form begins before them (Wu and Manber, TR 94-17, University of Arizona). It takes four bytes
/// because hundreds of secrets' base64 contain most groups of three letters.
struct FormFilter: Sendable {
    /// The number of first bytes of each form that are considered.
    private let window: Int
    private let bits: UInt32
    /// The number of bytes that can be skipped, for each value of four bytes, hashed to ``bits`` bits.
    private let skips: [UInt8]

    /// - Parameter forms: Case-folded.
    init(_ forms: [[UInt8]]) {
        let window = min(max(forms.map(\.count).min() ?? SecretForms.shortest, 4), 12)
        let starts = Set(forms.map { Array($0.prefix(window)) })
        let groups = window - 3
        // At most one entry of sixteen is used, as long as the table fits into a processor's second-level cache.
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

    /// Access to the filter while its table stays at one address.
    struct Skips {
        let window: Int
        let bits: UInt32
        let table: UnsafeBufferPointer<UInt8>

        /// The index of four bytes in the table. It is the same for upper and lower case.
        @inline(__always) static func fold(_ four: UInt32, _ bits: UInt32) -> Int {
            Int(((four | 0x2020_2020) &* 0x9E37_79B1) &>> (32 &- bits))
        }

        /// The first position at which a form may begin, or a position so near the end that this can't be decided.
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
