/// Receives the safe parts of a line.
protocol ANSISink {
    /// Text: valid UTF-8 without invisible scalars and without control characters other than tab.
    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>)
    /// Everything received of this line so far is to be replaced by what follows; the style is plain again.
    mutating func restartLine()
    /// The text that follows has this style.
    mutating func change(to style: ANSIStyle)
}

/// Splits one line of untrusted terminal output into text, styles, and parts that are left out.
///
/// It is a terminal's state machine (ECMA-48, xterm's ctlseqs) with two changes. Every sequence ends at the end of its
/// line, so that an unfinished OSC can't swallow the rest of a log, and only the style is carried from line to line.
/// And no sequence but SGR has an effect, except that a carriage return, `CSI G` and `CSI 2 K` restart the line, which
/// progress bars need. Each byte is examined a bounded number of times.
struct ANSIScanner {
    let colours: Bool
    /// Characters of a line that are shown.
    let lineLimit: Int
    private(set) var style = ANSIStyle.plain

    init(colours: Bool, lineLimit: Int?) {
        self.colours = colours
        self.lineLimit = max(lineLimit ?? .max, 1)
    }

    /// Scans `line`, which contains no line feed. The last thing that `sink` receives is a change to the plain style.
    mutating func scan<Sink: ANSISink>(_ line: UnsafeBufferPointer<UInt8>, into sink: inout Sink) {
        var pass = Pass(limit: lineLimit)
        var position = 0
        let count = line.count
        while position < count {
            let byte = line[position]
            if byte >= 0x20 && byte < 0x7F {
                var end = position + 1
                while end < count, line[end] >= 0x20, line[end] < 0x7F { end += 1 }
                pass.show(line, position..<end, width: end - position, style: style, in: &sink)
                position = end
            } else if byte >= 0x80 {
                let decoded = DecodedScalar(line, at: position)
                switch decoded.visibility(after: pass.lastJoins) {
                case .plain:
                    pass.show(line, position..<position + decoded.length, width: 1, style: style, in: &sink)
                    pass.lastJoins = decoded.value >= 0x600
                case .marked: pass.show(decoded.marker, width: decoded.marker.count, style: style, in: &sink)
                case .invalid: pass.show((0xEF, 0xBF, 0xBD), style: style, in: &sink)  // U+FFFD
                }
                position += decoded.length
            } else {
                position = control(byte, line, at: position, &pass, &sink)
            }
        }
        pass.end(&sink)
    }

    /// Handles the control character at `position` and returns the position after it or after its sequence.
    private mutating func control<Sink: ANSISink>(
        _ byte: UInt8, _ line: UnsafeBufferPointer<UInt8>, at position: Int, _ pass: inout Pass, _ sink: inout Sink
    ) -> Int {
        switch byte {
        case 0x09: pass.show(line, position..<position + 1, width: 1, style: style, in: &sink)
        case 0x0D: pass.restartsAtNextText = true
        case 0x1B: return escape(line, at: position, &pass, &sink)
        // Bell and the two character set shifts (which `tput sgr0` sends) show nothing.
        case 0x07, 0x0E, 0x0F: break
        default:
            // U+2400 and up picture the control characters; U+2421 is DEL.
            pass.show((0xE2, 0x90, byte == 0x7F ? 0xA1 : 0x80 + byte), style: style, in: &sink)
        }
        return position + 1
    }

    private mutating func escape<Sink: ANSISink>(
        _ line: UnsafeBufferPointer<UInt8>, at start: Int, _ pass: inout Pass, _ sink: inout Sink
    ) -> Int {
        guard start + 1 < line.count else { return line.count }
        var position = start + 1
        switch line[position] {
        case UInt8(ascii: "["):
            position += 1
            let parameters = position
            while position < line.count, (0x30...0x3F).contains(line[position]) { position += 1 }
            let parametersEnd = position
            while position < line.count, (0x20...0x2F).contains(line[position]) { position += 1 }
            // Cut off, or broken by an invalid character: the bytes that were read are left out.
            guard position < line.count, (0x40...0x7E).contains(line[position]) else { return position }
            if position == parametersEnd {
                let bytes = UnsafeBufferPointer(rebasing: line[parameters..<parametersEnd])
                sequence(line[position], bytes, &pass)
            }
            return position + 1
        // OSC, DCS, SOS, PM, APC: up to BEL, ST or the end of the line.
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            position += 1
            while position < line.count {
                switch line[position] {
                case 0x07: return position + 1
                // CAN and SUB abort any sequence.
                case 0x18, 0x1A: return position + 1
                case 0x1B:
                    let isTerminator = position + 1 < line.count && line[position + 1] == UInt8(ascii: "\\")
                    return isTerminator ? position + 2 : position
                default: position += 1
                }
            }
            return position
        // Two and three character sequences, for example `ESC ( B`.
        case 0x20...0x2F:
            while position < line.count, (0x20...0x2F).contains(line[position]) { position += 1 }
            guard position < line.count, (0x30...0x7E).contains(line[position]) else { return position }
            return position + 1
        case 0x30...0x7E: return position + 1
        default:
            pass.show((0xE2, 0x90, 0x9B), style: style, in: &sink)
            return position
        }
    }

    /// Carries out a complete control sequence.
    private mutating func sequence(_ final: UInt8, _ parameters: UnsafeBufferPointer<UInt8>, _ pass: inout Pass) {
        switch final {
        case UInt8(ascii: "m"):
            // A private marker (`CSI > 4 m` sets xterm's keyboard) makes it something other than SGR.
            if colours, parameters.first.map({ $0 < 0x3C }) ?? true { style.apply(parameters) }
        case UInt8(ascii: "G"):
            if parameters.allSatisfy({ $0 == UInt8(ascii: "1") }), parameters.count < 2 {
                pass.restartsAtNextText = true
            }
        case UInt8(ascii: "K"):
            if parameters.count == 1, parameters[0] == UInt8(ascii: "2") { pass.restartsAtNextText = true }
        default: break
        }
    }

    /// What is known about the line that is being shown.
    private struct Pass {
        let limit: Int
        var width = 0
        /// Characters beyond the limit.
        var leftOut = 0
        var shown = ANSIStyle.plain
        var restartsAtNextText = false
        /// Whether the last scalar was an emoji or of a script in which joiners belong to the writing.
        var lastJoins = false

        init(limit: Int) { self.limit = limit }

        mutating func show<Sink: ANSISink>(
            _ line: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, width newWidth: Int, style: ANSIStyle,
            in sink: inout Sink
        ) {
            show(UnsafeBufferPointer(rebasing: line[range]), width: newWidth, style: style, in: &sink)
        }

        mutating func show<Sink: ANSISink>(
            _ bytes: [UInt8], width newWidth: Int, style: ANSIStyle, in sink: inout Sink
        ) {
            bytes.withUnsafeBufferPointer { show($0, width: newWidth, style: style, in: &sink) }
        }

        mutating func show<Sink: ANSISink>(
            _ bytes: UnsafeBufferPointer<UInt8>, width newWidth: Int, style: ANSIStyle, in sink: inout Sink
        ) {
            lastJoins = false
            if restartsAtNextText {
                restartsAtNextText = false
                sink.restartLine()
                (width, leftOut, shown) = (0, 0, .plain)
            }
            guard width < limit else {
                leftOut += newWidth
                return
            }
            if shown != style {
                sink.change(to: style)
                shown = style
            }
            let room = limit - width
            if newWidth > room {
                // Only an ASCII run or a marker can be longer than the rest of the limit. In both, one byte is one
                // character.
                sink.text(UnsafeBufferPointer(rebasing: bytes.prefix(room)))
                leftOut += newWidth - room
                width = limit
            } else {
                sink.text(bytes)
                width += newWidth
            }
        }

        /// Shows one character of three bytes.
        mutating func show<Sink: ANSISink>(
            _ bytes: (UInt8, UInt8, UInt8), style: ANSIStyle, in sink: inout Sink
        ) {
            withUnsafeBytes(of: bytes) { raw in
                raw.withMemoryRebound(to: UInt8.self) { show($0, width: 1, style: style, in: &sink) }
            }
        }

        mutating func end<Sink: ANSISink>(_ sink: inout Sink) {
            if shown != .plain { sink.change(to: .plain) }
            guard leftOut > 0 else { return }
            Array(" … \(leftOut) more characters".utf8).withUnsafeBufferPointer { sink.text($0) }
        }
    }
}

/// One scalar read from bytes that may not be UTF-8.
struct DecodedScalar {
    enum Visibility { case plain, marked, invalid }

    let value: UInt32
    /// The number of bytes to advance. For invalid bytes: the longest prefix that could begin a scalar (Unicode 3.9,
    /// W3C).
    let length: Int
    private let isValid: Bool

    init(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
        let first = bytes[start]
        let (size, bits, second): (Int, UInt32, ClosedRange<UInt8>) =
            switch first {
            case 0xC2...0xDF: (2, UInt32(first & 0x1F), 0x80...0xBF)
            case 0xE0: (3, 0, 0xA0...0xBF)
            case 0xED: (3, UInt32(first & 0x0F), 0x80...0x9F)
            case 0xE1...0xEF: (3, UInt32(first & 0x0F), 0x80...0xBF)
            case 0xF0: (4, 0, 0x90...0xBF)
            case 0xF1...0xF3: (4, UInt32(first & 0x07), 0x80...0xBF)
            case 0xF4: (4, UInt32(first & 0x07), 0x80...0x8F)
            default: (0, 0, 0x80...0xBF)
            }
        var bitsSoFar = bits
        var read = 1
        while read < size, start + read < bytes.count {
            let byte = bytes[start + read]
            guard read == 1 ? second.contains(byte) : byte & 0xC0 == 0x80 else { break }
            bitsSoFar = bitsSoFar << 6 | UInt32(byte & 0x3F)
            read += 1
        }
        value = bitsSoFar
        length = read
        isValid = size > 0 && read == size
    }

    init(_ scalar: Unicode.Scalar) {
        value = scalar.value
        length = UTF8.width(scalar)
        isValid = true
    }

    /// Whether the scalar may be shown as it is.
    ///
    /// - Parameter joins: Whether the previous scalar is of a script in which joiners belong to the writing.
    func visibility(after joins: Bool) -> Visibility {
        guard isValid else { return .invalid }
        switch value {
        case 0x80...0x9F: return .marked  // C1: some terminals obey them in UTF-8 too
        case 0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x3164, 0xFFA0: return .marked
        case 0x200C, 0x200D: return joins ? .plain : .marked
        case 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F: return .marked
        // Text and emoji presentation are in common use. The other selectors could hide data.
        case 0xFE0E, 0xFE0F: return .plain
        case 0xFE00...0xFE0D, 0xFEFF, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF:
            return .marked
        default: return .plain
        }
    }

    /// `<U+202E>`, the form in which less and Git show invisible characters.
    var marker: [UInt8] {
        let digits = String(value, radix: 16, uppercase: true)
        return Array("<U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)>".utf8)
    }
}
