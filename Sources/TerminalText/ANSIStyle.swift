/// The style of text on a terminal, as far as untrusted output may set it.
///
/// Blinking and concealed text are left out: concealed text would hide a part of the log.
struct ANSIStyle: Sendable, Hashable {
    /// A colour, packed so that a style compares in a few instructions.
    struct Colour: Sendable, Hashable {
        private let packed: UInt32

        /// The terminal's default colour.
        static let standard = Colour(packed: 0)

        /// Entry `index` of the terminal's 256 colours; the first 16 are the named ones.
        static func palette(_ index: UInt8) -> Colour { Colour(packed: 1 << 24 | UInt32(index)) }

        static func rgb(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Colour {
            Colour(packed: 2 << 24 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
        }

        private init(packed: UInt32) { self.packed = packed }

        /// The entry of the 256 colours, if this is one.
        var paletteIndex: UInt8? { packed >> 24 == 1 ? UInt8(truncatingIfNeeded: packed) : nil }

        /// The parts of a true colour, if this is one.
        var rgbParts: RGB? {
            guard packed >> 24 == 2 else { return nil }
            return RGB(
                red: UInt8(truncatingIfNeeded: packed >> 16), green: UInt8(truncatingIfNeeded: packed >> 8),
                blue: UInt8(truncatingIfNeeded: packed))
        }
    }

    struct RGB: Sendable, Hashable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
    }

    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let bold = Flags(rawValue: 1)
        static let dim = Flags(rawValue: 2)
        static let italic = Flags(rawValue: 4)
        static let underline = Flags(rawValue: 8)
        static let inverse = Flags(rawValue: 16)
        static let struck = Flags(rawValue: 32)
    }

    var foreground = Colour.standard
    var background = Colour.standard
    var flags: Flags = []

    static let plain = ANSIStyle()

    /// Applies the parameters of one `CSI … m` (ECMA-48 8.3.117; colours as ISO 8613-6 and xterm write them).
    ///
    /// - Parameter parameters: The bytes between `CSI` and `m`: digits, `;` and `:`.
    mutating func apply(_ parameters: UnsafeBufferPointer<UInt8>) {
        var reader = ParameterReader(bytes: parameters)
        repeat {
            let code = reader.next()
            switch code {
            case 0: self = .plain
            case 1: flags.insert(.bold)
            case 2: flags.insert(.dim)
            case 3: flags.insert(.italic)
            case 4:
                // 4:0 is "no underline", 4:1 to 4:5 are its kinds.
                if reader.isAtSubparameter, reader.next() == 0 {
                    flags.remove(.underline)
                } else {
                    flags.insert(.underline)
                }
            case 7: flags.insert(.inverse)
            case 9: flags.insert(.struck)
            case 22: flags.subtract([.bold, .dim])
            case 23: flags.remove(.italic)
            case 24: flags.remove(.underline)
            case 27: flags.remove(.inverse)
            case 29: flags.remove(.struck)
            case 30...37: foreground = .palette(UInt8(code - 30))
            case 38: if let colour = reader.colour() { foreground = colour }
            case 39: foreground = .standard
            case 40...47: background = .palette(UInt8(code - 40))
            case 48: if let colour = reader.colour() { background = colour }
            case 49: background = .standard
            case 58: _ = reader.colour()  // the underline's colour: read past it
            case 90...97: foreground = .palette(UInt8(code - 90 + 8))
            case 100...107: background = .palette(UInt8(code - 100 + 8))
            default: break
            }
            reader.skipSubparameters()
        } while !reader.isAtEnd
    }

    /// The shortest sequence that sets exactly this style on a terminal in any state.
    func appendSequence(to output: inout [UInt8]) {
        output.append(contentsOf: [0x1B, UInt8(ascii: "["), UInt8(ascii: "0")])
        func add(_ code: Int) {
            output.append(UInt8(ascii: ";"))
            output.append(contentsOf: String(code).utf8)
        }
        if flags.contains(.bold) { add(1) }
        if flags.contains(.dim) { add(2) }
        if flags.contains(.italic) { add(3) }
        if flags.contains(.underline) { add(4) }
        if flags.contains(.inverse) { add(7) }
        if flags.contains(.struck) { add(9) }
        func add(_ colour: Colour, base: Int) {
            if let index = colour.paletteIndex {
                switch index {
                case 0...7: add(base + Int(index))
                case 8...15: add(base + 60 + Int(index) - 8)
                default:
                    add(base + 8)
                    add(5)
                    add(Int(index))
                }
            } else if let parts = colour.rgbParts {
                for code in [base + 8, 2, Int(parts.red), Int(parts.green), Int(parts.blue)] { add(code) }
            }
        }
        add(foreground, base: 30)
        add(background, base: 40)
        output.append(UInt8(ascii: "m"))
    }
}

/// Reads the numbers of an SGR sequence one by one; an empty one is 0.
private struct ParameterReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    /// Whether the next number belongs to the one before it (`38:5:1`).
    var isAtSubparameter: Bool { position > 0 && position <= bytes.count && bytes[position - 1] == UInt8(ascii: ":") }

    /// The next number, held below 10,000, and the separator after it.
    mutating func next() -> Int {
        var value = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
            value = min(value * 10 + Int(byte - UInt8(ascii: "0")), 9999)
        }
        return value
    }

    mutating func skipSubparameters() {
        while !isAtEnd && isAtSubparameter { _ = next() }
    }

    /// What follows 38 or 48: `5;n` or `2;r;g;b`, with colons also `2:space:r:g:b`.
    mutating func colour() -> ANSIStyle.Colour? {
        let colons = isAtSubparameter
        var values: [Int] = []
        let kind = isAtEnd ? 0 : next()
        let wanted = kind == 5 ? 1 : kind == 2 ? 3 : 0
        if colons {
            while !isAtEnd && isAtSubparameter && values.count < 8 { values.append(next()) }
            if kind == 2 && values.count > 3 { values.removeFirst() }
        } else {
            while !isAtEnd && values.count < wanted { values.append(next()) }
        }
        guard wanted > 0, values.count >= wanted, values.prefix(wanted).allSatisfy({ $0 < 256 }) else { return nil }
        if wanted == 1 { return .palette(UInt8(values[0])) }
        return .rgb(UInt8(values[0]), UInt8(values[1]), UInt8(values[2]))
    }
}
