/// One stream of bytes on its way through a ``Masker``.
///
/// Bytes that may be the start of a form are held back until it is clear whether they are, at most one fewer than the
/// longest form has; everything before them goes on at once. Forms that overlap are replaced as one.
package struct MaskingStream {
    fileprivate struct Found {
        var start: Int
        var end: Int
        /// Of the longest form in it.
        var length: Int
        var owner: Int
    }

    private let masker: Masker
    private var state: UInt32 = 0
    /// Bytes that came.
    private var position = 0
    /// The last bytes that came, which may be a form's start; the first ``spent`` of them have gone on.
    private var held: [UInt8] = []
    private var spent = 0
    /// What is replaced and has not gone on yet, in order.
    private var pending: [Found] = []
    /// Where the output is: everything before it has gone on or is replaced.
    private var done = 0

    /// Places that were replaced.
    package private(set) var count = 0
    /// The secret that was found first.
    package private(set) var found: String?

    package init(_ masker: Masker) { self.masker = masker }

    /// Takes the next bytes and hands on what is clear, in pieces that are only there during the call.
    package mutating func feed(_ buffer: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void)
        rethrows
    {
        guard !buffer.isEmpty else { return }
        let base = position
        var pending = self.pending
        state = buffer.withMemoryRebound(to: UInt8.self) { bytes in
            masker.scan(bytes, from: state) { end, length, owner in
                pending.add(Found(start: base + end - length, end: base + end, length: length, owner: owner))
            }
        }
        self.pending = pending
        if found == nil, let first = pending.first { found = masker.names[first.owner] }
        position += buffer.count
        let clear = position - Int(masker.automaton.depth[Int(state)])
        try handOn(upTo: clear, buffer, base, output)
        keep(from: clear, buffer, base)
    }

    /// Hands on what is held back: nothing more will come to it. The stream can be used again.
    package mutating func flush(_ output: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try handOn(upTo: position, UnsafeRawBufferPointer(start: nil, count: 0), position, output)
        held.removeAll(keepingCapacity: true)
        (spent, state) = (0, 0)
    }

    private mutating func handOn(
        upTo clear: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        var settled = 0
        defer { pending.removeFirst(settled) }
        for place in pending {
            guard place.start < clear else { break }
            try copy(done, place.start, buffer, base, output)
            done = max(done, place.start)
            // What follows may still become part of it.
            guard place.end <= clear else { return }
            try masker.marks[place.owner].withUnsafeBytes(output)
            count += 1
            settled += 1
            done = place.end
        }
        try copy(done, clear, buffer, base, output)
        done = max(done, clear)
    }

    /// Hands on the bytes between two offsets of the stream, which are in ``held``, in `buffer` or in both.
    private func copy(
        _ from: Int, _ to: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard from < to else { return }
        if from < base {
            let end = held.count - (base - min(to, base))
            let start = held.count - (base - from)
            try held.withUnsafeBytes { try output(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
        if to > base {
            try output(UnsafeRawBufferPointer(rebasing: buffer[(max(from, base) - base)..<(to - base)]))
        }
    }

    private mutating func keep(from clear: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int) {
        if clear >= base {
            held.removeAll(keepingCapacity: true)
            spent = 0
            held.append(contentsOf: buffer[(clear - base)...])
        } else {
            held.append(contentsOf: buffer)
            spent = held.count - (position - clear)
            // Not at once each time: a long secret may come byte by byte.
            if spent > 4_096 && spent > held.count / 2 {
                held.removeFirst(spent)
                spent = 0
            }
        }
    }
}

extension [MaskingStream.Found] {
    /// Adds a form whose end is not before any other's.
    fileprivate mutating func add(_ new: Element) {
        var new = new
        while let last = self.last, last.end > new.start {
            new.start = Swift.min(new.start, last.start)
            if last.length >= new.length { (new.length, new.owner) = (last.length, last.owner) }
            removeLast()
        }
        append(new)
    }
}
