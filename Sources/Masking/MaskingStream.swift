/// One stream of bytes that passes through a ``Masker``.
///
/// Bytes that may be the start of a form are held back until that is decided: at most one byte fewer than the longest
/// form has. All bytes before them pass at once. Overlapping forms are replaced as one. Terminal control sequences are
/// not part of the searched text: a sequence in the middle of a form is output after the replacement.
package struct MaskingStream {
    fileprivate struct Found {
        var start: Int
        var end: Int
        /// The length of the longest form that was found in the range.
        var length: Int
        var owner: Int
    }

    /// A control sequence that waits for the text before it.
    private struct Sequence {
        /// Its offset in the text.
        let position: Int
        let bytes: [UInt8]
    }

    /// The most sequences that may wait. Otherwise a stream of sequences after the start of a form could fill the
    /// memory.
    private static let waitingSequences = 1_024

    private let masker: Masker
    private var cutter = SequenceCutter()
    private var sequences: [Sequence] = []
    private var state: UInt32 = 0
    /// The number of text bytes received.
    private var position = 0
    private var held = HeldText()
    /// Ranges that are to be replaced and were not passed on yet, in order.
    private var pending: [Found] = []
    /// The output's offset: everything before it was passed on or replaced.
    private var done = 0

    /// The number of replacements.
    package private(set) var count = 0
    /// The name of the secret that was found first.
    package private(set) var found: String?

    package init(_ masker: Masker) { self.masker = masker }

    /// Takes the next bytes and passes on those that are decided. The pieces are valid only during the call.
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

    /// The number of bytes at the start of a buffer, sequences included, that contain no form and no start of one; 0 if
    /// that can't be decided quickly. So coloured output passes in one piece, too.
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

    /// Passes on what is held back, because no more bytes follow. The stream can be used again.
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
        held.keep(from: clear, buffer, base)
    }

    /// Takes a control sequence. It passes at once if no text before it is held back.
    private mutating func pass(
        _ sequence: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        if done == position, sequences.isEmpty { return try output(sequence) }
        sequences.append(Sequence(position: position, bytes: Array(sequence)))
        if sequences.count > MaskingStream.waitingSequences { try settle(output) }
    }

    /// Passes on all text received, as if no form could continue after it.
    private mutating func settle(_ output: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try handOn(upTo: position, UnsafeRawBufferPointer(start: nil, count: 0), position, output)
        held.removeAll()
        state = 0
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
            // The bytes that follow may still belong to it.
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

    /// Passes on what is between two offsets of the text: the bytes, and the sequences among them.
    private mutating func copy(
        _ from: Int, _ to: Int, _ buffer: UnsafeRawBufferPointer, _ base: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard !sequences.isEmpty else { return try held.copy(from, to, buffer, base, output) }
        var from = from
        let text = held
        try handOnSequences(upTo: to) { position, sequence in
            try text.copy(from, position, buffer, base, output)
            from = max(from, position)
            try output(sequence)
        }
        try held.copy(from, to, buffer, base, output)
    }
}

extension [MaskingStream.Found] {
    /// Adds a form that does not end before any earlier one.
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
