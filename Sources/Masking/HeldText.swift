/// The last bytes of a text, which may be the start of a form and were not passed on yet.
///
/// Offsets are those of the whole text; `base` is the offset of a buffer whose bytes follow the held ones.
struct HeldText {
    private var bytes: [UInt8] = []
    /// The number of bytes at the start of ``bytes`` that were already passed on.
    private var spent = 0

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        spent = 0
    }

    /// Passes on the bytes between two offsets, which are held, in `buffer`, or partly in each.
    func copy(
        _ from: Int, _ to: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard from < to else { return }
        if from < base {
            let end = bytes.count - (base - min(to, base))
            let start = bytes.count - (base - from)
            try bytes.withUnsafeBytes { try output(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
        if to > base {
            try output(UnsafeRawBufferPointer(rebasing: buffer[(max(from, base) - base)..<(to - base)]))
        }
    }

    /// Takes the bytes of `buffer`, and holds those from the offset `clear` on.
    mutating func keep(from clear: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int) {
        if clear >= base {
            removeAll()
            bytes.append(contentsOf: buffer[(clear - base)...])
        } else {
            bytes.append(contentsOf: buffer)
            spent = bytes.count - (base + buffer.count - clear)
            // Not every time, because a long secret may arrive byte by byte.
            if spent > 4_096 && spent > bytes.count / 2 {
                bytes.removeFirst(spent)
                spent = 0
            }
        }
    }
}
