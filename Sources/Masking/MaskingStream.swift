/// One stream of bytes on its way through a ``Masker``.
///
/// Bytes that may be the start of a form are held back until it is clear whether they are, at most one fewer than the
/// longest form has; everything before them goes on at once. Forms that overlap are replaced as one. A terminal's
/// control sequences are no part of the text: one in the middle of a form follows what the form is replaced by.
package struct MaskingStream {
    fileprivate struct Found {
        var start: Int
        var end: Int
        /// Of the longest form in it.
        var length: Int
        var owner: Int
    }

    /// A control sequence that waits for what is before it.
    private struct Sequence {
        /// The offset in the text at which it stands.
        let position: Int
        let bytes: [UInt8]
    }

    /// Sequences that may wait. A stream of nothing else after a form's start would fill the memory.
    private static let waitingSequences = 1_024

    private let masker: Masker
    private var cutter = SequenceCutter()
    private var sequences: [Sequence] = []
    private var state: UInt32 = 0
    /// Bytes of text that came.
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
        let isText = cutter.held.isEmpty && SequenceCutter.firstEscape(in: buffer, from: 0) == nil
        guard masker.cutsSequences, !isText else { return try feedText(buffer, output) }
        let clear = clearBytes(of: buffer)
        if clear > 0 { try output(UnsafeRawBufferPointer(rebasing: buffer[..<clear])) }
        var cutter = self.cutter
        try cutter.cut(UnsafeRawBufferPointer(rebasing: buffer[clear...])) { piece, isSequence in
            if isSequence { try pass(piece, output) } else { try feedText(piece, output) }
        }
        self.cutter = cutter
    }

    /// Bytes at the start of a buffer, sequences included, that hold no form and in whose text none begins that may go
    /// on after them; 0 where this can't be told at once. Output in colour thus goes on in one piece, too.
    private mutating func clearBytes(of buffer: UnsafeRawBufferPointer) -> Int {
        guard done == position, sequences.isEmpty, cutter.held.isEmpty else { return 0 }
        var text: [UInt8] = []
        text.reserveCapacity(buffer.count)
        var starts: [(text: Int, buffer: Int)] = []
        var offset = 0
        var cutter = self.cutter
        cutter.cut(buffer) { piece, isSequence in
            if !isSequence {
                starts.append((text.count, offset))
                text.append(contentsOf: piece)
            }
            offset += piece.count
        }
        var hasForm = false
        let end = text.withUnsafeBufferPointer { masker.scan($0, from: 0) { _, _, _ in hasForm = true } }
        if hasForm { return 0 }
        let clear = text.count - Int(masker.automaton.depth[Int(end)])
        position += clear
        done = position
        guard clear < text.count, let piece = starts.last(where: { $0.text <= clear }) else { return offset }
        return piece.buffer + clear - piece.text
    }

    /// Hands on what is held back: nothing more will come to it. The stream can be used again.
    package mutating func flush(_ output: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        let rest = cutter.takeHeld()
        try rest.withUnsafeBytes { try feedText($0, output) }
        try settle(output)
    }

    private mutating func feedText(
        _ buffer: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
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

    /// Takes a control sequence, which goes on at once where no text before it is held back.
    private mutating func pass(
        _ sequence: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        if done == position, sequences.isEmpty { return try output(sequence) }
        sequences.append(Sequence(position: position, bytes: Array(sequence)))
        if sequences.count > MaskingStream.waitingSequences { try settle(output) }
    }

    /// Hands on all text that came, as if no form could go on after it.
    private mutating func settle(_ output: (UnsafeRawBufferPointer) throws -> Void) rethrows {
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
            try handOnSequences(upTo: place.end) { _, sequence in try output(sequence) }
            count += 1
            settled += 1
            done = place.end
        }
        try copy(done, clear, buffer, base, output)
        done = max(done, clear)
    }

    private mutating func handOnSequences(
        upTo end: Int, _ output: (_ position: Int, UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard !sequences.isEmpty else { return }
        let clear = sequences.prefix { $0.position <= end }
        for sequence in clear { try sequence.bytes.withUnsafeBytes { try output(sequence.position, $0) } }
        sequences.removeFirst(clear.count)
    }

    /// Hands on what is between two offsets of the text: its bytes, and the sequences among them.
    private mutating func copy(
        _ from: Int, _ to: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard !sequences.isEmpty else { return try copyText(from, to, buffer, base, output) }
        var from = from
        let text = self
        try handOnSequences(upTo: to) { position, sequence in
            try text.copyText(from, position, buffer, base, output)
            from = max(from, position)
            try output(sequence)
        }
        try copyText(from, to, buffer, base, output)
    }

    /// Hands on the bytes between two offsets of the text, which are in ``held``, in `buffer` or in both.
    private func copyText(
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
