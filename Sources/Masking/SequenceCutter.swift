#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Splits a stream of bytes into text and terminal control sequences (ECMA-48).
///
/// A tool that colours its output may write a sequence in the middle of a secret. The sequences are `ESC [` up to its
/// final byte, and `ESC` with intermediate bytes up to its final byte (`ESC ( B`). Any other `ESC` is text.
struct SequenceCutter {
    /// The longest sequence, in bytes. Anything longer is text.
    static let longest = 64
    static let escape: UInt8 = 0x1b

    private enum Kind { case unfinished, whole, none }

    /// The start of a sequence whose end has not arrived yet.
    private(set) var held: [UInt8] = []

    /// Passes on text and sequences in their order. The pieces are valid only during the call.
    mutating func cut(
        _ buffer: UnsafeRawBufferPointer, _ piece: (UnsafeRawBufferPointer, _ isSequence: Bool) throws -> Void
    ) rethrows {
        var position = try finishHeld(with: buffer, piece)
        var search = position
        while let start = SequenceCutter.firstEscape(in: buffer, from: search) {
            let (kind, end) = SequenceCutter.sequence(in: buffer, from: start)
            search = end
            if kind == .none { continue }
            if position < start { try piece(UnsafeRawBufferPointer(rebasing: buffer[position..<start]), false) }
            position = end
            if kind == .unfinished {
                held = Array(buffer[start...])
                return
            }
            try piece(UnsafeRawBufferPointer(rebasing: buffer[start..<end]), true)
        }
        if position < buffer.count { try piece(UnsafeRawBufferPointer(rebasing: buffer[position...]), false) }
    }

    /// Returns the bytes held back as text, because no more bytes follow.
    mutating func takeHeld() -> [UInt8] {
        defer { held.removeAll() }
        return held
    }

    /// - Returns: The number of bytes of `buffer` that belong to the sequence that was held back.
    private mutating func finishHeld(
        with buffer: UnsafeRawBufferPointer, _ piece: (UnsafeRawBufferPointer, Bool) throws -> Void
    ) rethrows -> Int {
        guard !held.isEmpty else { return 0 }
        let count = held.count
        let joined = held + buffer.prefix(SequenceCutter.longest)
        let (kind, end) = joined.withUnsafeBytes { SequenceCutter.sequence(in: $0, from: 0) }
        if kind == .unfinished {
            held = joined
            return buffer.count
        }
        held.removeAll()
        // Until now the bytes were a valid sequence, so the byte that ends it is the current one.
        try joined[..<end].withUnsafeBytes { try piece($0, kind == .whole) }
        return end - count
    }

    static func firstEscape(in buffer: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < buffer.count, let base = buffer.baseAddress,
            let found = memchr(base + start, Int32(escape), buffer.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The kind of what begins with the escape at `start`, and its end. If it is not a sequence, it ends before the
    /// byte that shows this.
    private static func sequence(in buffer: UnsafeRawBufferPointer, from start: Int) -> (Kind, end: Int) {
        var position = start + 1
        let limit = min(buffer.count, start + longest)
        guard position < limit else { return (.unfinished, position) }
        let isControl = buffer[position] == UInt8(ascii: "[")
        guard isControl || 0x20...0x2f ~= buffer[position] else { return (.none, position) }
        position += 1
        if isControl { while position < limit, 0x30...0x3f ~= buffer[position] { position += 1 } }
        while position < limit, 0x20...0x2f ~= buffer[position] { position += 1 }
        guard position < limit else { return (limit == start + longest ? .none : .unfinished, position) }
        let first: UInt8 = isControl ? 0x40 : 0x30
        return first...0x7e ~= buffer[position] ? (.whole, position + 1) : (.none, position)
    }
}
