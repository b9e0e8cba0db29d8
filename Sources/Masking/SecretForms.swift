/// The byte strings in which a secret's value may appear in output.
///
/// They are made of the value without line feeds at its end, of the value with `\r\n` or `\n` as line ends, and of each
/// of its lines. For each of these, the forms are the bytes themselves and their encodings by common tools and by what
/// a shell has at hand. Deliberate transformations (reversing, one character a line, encryption, compression) can't be
/// listed.
struct SecretForms {
    /// The shortest form, in bytes. Shorter ones would often occur in other output, and masking them there would reveal
    /// them.
    static let shortest = 6
    /// The longest value, in bytes, for which every dialect of an encoding is listed. Longer values have the common
    /// ones only.
    static let rich = 4_096

    private(set) var all: Set<[UInt8]> = []
    /// The forms that result from encoding the whole value twice.
    let twice: Set<[UInt8]>

    init(of value: [UInt8]) {
        let isRich = value.count <= SecretForms.rich
        let lineFeed = UInt8(ascii: "\n")
        let trimmed = value.withoutLineEnds
        guard trimmed.count >= SecretForms.shortest else {
            twice = []
            return
        }
        twice = TwiceEncodedForms.of(trimmed)
        let lines = trimmed.split { $0 == lineFeed || $0 == UInt8(ascii: "\r") }.map(Array.init)
        add(trimmed, isRich: isRich)
        // The line feed at a file's end is not secret, and a log is easier to read with it. In base64, the last
        // characters contain its bits.
        if value != trimmed { for form in Base64Forms.of(value, isRich: isRich) { insert(form) } }
        if trimmed.contains(lineFeed) {
            let plain = trimmed.joiningLines(with: [lineFeed])
            let others = [plain, plain.flatMap { $0 == lineFeed ? [UInt8(ascii: "\r"), lineFeed] : [$0] }]
            for text in others where text != trimmed {
                if isRich { add(text, isRich: true) } else { insert(text) }
            }
        }
        for line in Set(lines) where lines.count > 1 && line.count >= SecretForms.shortest {
            if isRich { add(line, isRich: true) } else { insert(line) }
        }
    }

    private mutating func insert(_ form: [UInt8]) {
        if form.count >= SecretForms.shortest { all.insert(form) }
    }

    private mutating func add(_ text: [UInt8], isRich: Bool) {
        insert(text)
        for form in Base64Forms.of(text, isRich: isRich) { insert(form) }
        for form in HexForms.of(text, isRich: isRich) { insert(form) }
        for form in PercentForms.of(text, isRich: isRich) { insert(form) }
        for form in QuotedForms.of(text, isRich: isRich) { insert(form) }
    }
}

extension [UInt8] {
    /// The bytes without line feeds and carriage returns at the end, as a shell's `$(…)` has them.
    package var withoutLineEnds: [UInt8] {
        let end = lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return end.map { Array(self[...$0]) } ?? []
    }

    /// The bytes with `end` in place of each `\r\n` and `\n`.
    fileprivate func joiningLines(with end: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for (index, byte) in enumerated() {
            if byte == UInt8(ascii: "\r"), index + 1 < count, self[index + 1] == UInt8(ascii: "\n") { continue }
            if byte == UInt8(ascii: "\n") { result += end } else { result.append(byte) }
        }
        return result
    }

    func split(every width: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: width).map { Array(self[$0..<Swift.min($0 + width, count)]) }
    }

    /// The bytes in pieces of `width`, as tools wrap them: joined by line ends, and each piece on its own.
    func wrapped(at width: Int, joined: Bool) -> [[UInt8]] {
        guard count > width else { return [] }
        let pieces = split(every: width)
        guard joined else { return pieces }
        return pieces + [
            Array(pieces.joined(separator: [UInt8(ascii: "\n")])),
            Array(pieces.joined(separator: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])),
        ]
    }
}
