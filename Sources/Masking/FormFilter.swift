/// Says how far ahead the next form can begin, from three bytes at a time.
///
/// All forms are looked at through a window of their first bytes. Three bytes of text at the window's end that are
/// nowhere in any form's window say that no form begins before them (Wu and Manber, TR 94-17, University of Arizona).
struct FormFilter: Sendable {
    /// Bytes of each form that are looked at.
    private let window: Int
    /// For each value of three bytes, folded to 16 bits: how many bytes can be skipped.
    private let skips: [UInt8]

    init(_ forms: [[UInt8]]) {
        let shortest = forms.map(\.count).min() ?? SecretForms.shortest
        window = min(max(shortest, 4), 12)
        var skips = [UInt8](repeating: UInt8(window - 2), count: 1 << 16)
        for form in forms {
            for start in 0...(window - 3) {
                let place = Skips.fold(
                    UInt32(form[start]) | UInt32(form[start + 1]) << 8 | UInt32(form[start + 2]) << 16)
                skips[place] = min(skips[place], UInt8(window - 3 - start))
            }
        }
        self.skips = skips
    }

    func withSkips<Result>(_ body: (Skips) -> Result) -> Result {
        skips.withUnsafeBufferPointer { body(Skips(window: window, table: $0)) }
    }

    /// The filter while its table stays in place.
    struct Skips {
        let window: Int
        let table: UnsafeBufferPointer<UInt8>

        @inline(__always) static func fold(_ three: UInt32) -> Int { Int((three &* 0x9E37_79B1) >> 16) }

        /// The first position at which a form may begin, or one so near the end that this can't be told.
        @inline(__always)
        func skip(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
            guard let table = table.baseAddress else { return start }
            let text = UnsafeRawPointer(base)
            let last = end - window
            var position = start
            while position <= last {
                // Four bytes are read, of which the first is not meant; a window has at least four.
                let four = UInt32(
                    littleEndian: text.loadUnaligned(fromByteOffset: position + window - 4, as: UInt32.self))
                let skip = table[Skips.fold(four >> 8)]
                if skip == 0 { break }
                position &+= Int(skip)
            }
            return min(position, end)
        }
    }
}
