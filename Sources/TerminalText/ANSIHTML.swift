/// Turns raw log bytes into HTML: escaped text, and `<span class="…">` for colours and weights, nothing else.
///
/// It leaves out or marks the same characters as ``TerminalText``. Styles are classes, so that a page can forbid inline
/// style; ``stylesheet`` defines the classes that were used. True colours become the nearest of the 256. A value keeps
/// the style from line to line:
///
///     var html = ANSIHTML()
///     for line in log.split(separator: 10, omittingEmptySubsequences: false) { page += html.line(line) }
public struct ANSIHTML: Sendable {
    private var scanner: ANSIScanner
    private var sink = Sink()

    /// - Parameter lineLimit: The most characters of a line that are shown; the number of the others is shown instead.
    ///   Nil: no limit.
    public init(lineLimit: Int? = nil) {
        scanner = ANSIScanner(colours: true, lineLimit: lineLimit)
    }

    /// One line of the log without its line feed, as HTML in which every span that is opened is closed.
    public mutating func line(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        withBytes(of: bytes) { append(line: $0, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends one line of the log, which holds no line feed, as HTML.
    package mutating func append(line: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        swap(&sink.output, &output)
        sink.lineStart = sink.output.count
        sink.isOpen = false
        scanner.scan(line, into: &sink)
        swap(&sink.output, &output)
    }

    /// All of `bytes` as HTML for a `<pre>`, with its line feeds.
    public static func render(_ bytes: some Sequence<UInt8>, lineLimit: Int? = nil) -> String {
        var html = ANSIHTML(lineLimit: lineLimit)
        var output: [UInt8] = []
        withBytes(of: bytes) { bytes in
            output.reserveCapacity(bytes.count + bytes.count / 4)
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                html.append(line: UnsafeBufferPointer(rebasing: bytes[start..<end]), to: &output)
                output.append(UInt8(ascii: "\n"))
                start = end + 1
            }
            html.append(line: UnsafeBufferPointer(rebasing: bytes[start...]), to: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Untrusted text for element content or a quoted attribute: escaped, with invisible characters made visible.
    ///
    /// Line feeds and tabs stay.
    public static func escape(_ text: String) -> String {
        var sink = Sink()
        var scanner = ANSIScanner(colours: false, lineLimit: nil)
        withBytes(of: text.utf8) { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                scanner.scan(UnsafeBufferPointer(rebasing: bytes[start..<end]), into: &sink)
                sink.output.append(UInt8(ascii: "\n"))
                sink.lineStart = sink.output.count
                start = end + 1
            }
            scanner.scan(UnsafeBufferPointer(rebasing: bytes[start...]), into: &sink)
        }
        return String(decoding: sink.output, as: UTF8.self)
    }

    /// The CSS rules for every class that was used so far, for a log on a dark background.
    public var stylesheet: String {
        var css = """
            .tb{font-weight:700}.td{opacity:.75}.ti{font-style:italic}.tu{text-decoration:underline}
            .ts{text-decoration:line-through}.tu.ts{text-decoration:underline line-through}

            """
        for index in sink.foregrounds.sorted() {
            css += ".tf\(index){color:\(Palette.foreground(index))}\n"
        }
        for index in sink.backgrounds.sorted() { css += ".tk\(index){background:\(Palette.hex(Palette[index]))}\n" }
        // Text on a coloured background is black or white, whichever is easier to read, so that no style can hide text.
        if !sink.backgrounds.isEmpty { css += ".tx0{color:#000}.tx1{color:#fff}\n" }
        return css
    }

    private struct Sink: ANSISink {
        var output: [UInt8] = []
        var lineStart = 0
        var isOpen = false
        var foregrounds: Set<UInt8> = []
        var backgrounds: Set<UInt8> = []
        private var openingTags: [ANSIStyle: [UInt8]] = [:]

        mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
            var start = 0
            for position in 0..<bytes.count {
                let entity: StaticString
                switch bytes[position] {
                case UInt8(ascii: "<"): entity = "&lt;"
                case UInt8(ascii: ">"): entity = "&gt;"
                case UInt8(ascii: "&"): entity = "&amp;"
                case UInt8(ascii: "\""): entity = "&quot;"
                case UInt8(ascii: "'"): entity = "&#39;"
                default: continue
                }
                output.append(contentsOf: bytes[start..<position])
                entity.withUTF8Buffer { output.append(contentsOf: $0) }
                start = position + 1
            }
            output.append(contentsOf: bytes[start...])
        }

        mutating func restartLine() {
            output.removeLast(output.count - lineStart)
            isOpen = false
        }

        mutating func change(to style: ANSIStyle) {
            if isOpen {
                ("</span>" as StaticString).withUTF8Buffer { output.append(contentsOf: $0) }
                isOpen = false
            }
            guard style != .plain else { return }
            isOpen = true
            if let tag = openingTags[style] {
                output.append(contentsOf: tag)
                return
            }
            let tag = Array("<span class=\"\(classes(of: style))\">".utf8)
            // A hostile log can use millions of styles; an ordinary one uses a few dozen.
            if openingTags.count > 4096 { openingTags.removeAll() }
            openingTags[style] = tag
            output.append(contentsOf: tag)
        }

        private mutating func classes(of style: ANSIStyle) -> String {
            var names: [String] = []
            for (flag, name) in [
                (ANSIStyle.Flags.bold, "tb"), (.dim, "td"), (.italic, "ti"), (.underline, "tu"), (.struck, "ts"),
            ] where style.flags.contains(flag) {
                names.append(name)
            }
            var foreground = Palette.index(style.foreground)
            var background = Palette.index(style.background)
            if style.flags.contains(.inverse) {
                (foreground, background) = (background, foreground ?? 7)
            }
            if let background {
                backgrounds.insert(background)
                names.append("tk\(background)")
                let readable = foreground.map { Palette.contrast(Palette[$0], Palette[background]) >= 4.5 } ?? false
                if let foreground, readable, Palette.foreground(foreground) == Palette.hex(Palette[foreground]) {
                    foregrounds.insert(foreground)
                    names.append("tf\(foreground)")
                } else {
                    names.append(Palette.isLight(Palette[background]) ? "tx0" : "tx1")
                }
            } else if let foreground {
                foregrounds.insert(foreground)
                names.append("tf\(foreground)")
            }
            return names.isEmpty ? "tn" : names.joined(separator: " ")
        }
    }
}

/// The 256 colours as a page shows them on the dark background of a log.
private enum Palette {
    /// What logs are shown on: `#0d1117`.
    static let page = ANSIStyle.RGB(red: 0x0D, green: 0x11, blue: 0x17)

    private static let named: [UInt32] = [
        0x7d8590, 0xff7b72, 0x3fb950, 0xd29922, 0x58a6ff, 0xbc8cff, 0x39c5cf, 0xb1bac4,
        0x8b949e, 0xffa198, 0x56d364, 0xe3b341, 0x79c0ff, 0xd2a8ff, 0x56d4dd, 0xffffff,
    ]
    private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

    /// xterm's 6×6×6 cube and its 24 greys. The first 16 colours are our own.
    static subscript(index: UInt8) -> ANSIStyle.RGB {
        switch index {
        case 0...15:
            let value = named[Int(index)]
            return .init(
                red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                blue: UInt8(truncatingIfNeeded: value))
        case 16...231:
            let cube = Int(index) - 16
            return .init(red: levels[cube / 36], green: levels[cube / 6 % 6], blue: levels[cube % 6])
        default:
            let grey = (index - 232) * 10 + 8
            return .init(red: grey, green: grey, blue: grey)
        }
    }

    static func index(_ colour: ANSIStyle.Colour) -> UInt8? {
        if let index = colour.paletteIndex { return index }
        guard let parts = colour.rgbParts else { return nil }
        let spread = max(parts.red, parts.green, parts.blue) - min(parts.red, parts.green, parts.blue)
        if spread < 12 {
            let grey = (Int(parts.red) - 3) / 10
            return UInt8(232 + min(max(grey, 0), 23))
        }
        func level(_ value: UInt8) -> Int {
            levels.indices.min { abs(Int(levels[$0]) - Int(value)) < abs(Int(levels[$1]) - Int(value)) } ?? 0
        }
        return UInt8(16 + 36 * level(parts.red) + 6 * level(parts.green) + level(parts.blue))
    }

    /// The colour of text without a background: lightened until it can be read (WCAG AA, 4.5 : 1).
    static func foreground(_ index: UInt8) -> String {
        var colour = self[index]
        while contrast(colour, page) < 4.5 {
            func lighter(_ value: UInt8) -> UInt8 { UInt8(Int(value) + (255 - Int(value) + 7) / 8) }
            colour = .init(red: lighter(colour.red), green: lighter(colour.green), blue: lighter(colour.blue))
        }
        return hex(colour)
    }

    static func isLight(_ colour: ANSIStyle.RGB) -> Bool { luminance(colour) > 0.179 }

    /// The contrast ratio of WCAG 2.2, from 1 to 21.
    static func contrast(_ one: ANSIStyle.RGB, _ other: ANSIStyle.RGB) -> Double {
        let (first, second) = (luminance(one), luminance(other))
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    /// Relative luminance. Squaring approximates sRGB's curve: within 0.02 of the exact value, without `pow`.
    private static func luminance(_ colour: ANSIStyle.RGB) -> Double {
        func linear(_ value: UInt8) -> Double {
            let part = Double(value) / 255
            return part * part * (0.8 + 0.2 * part)
        }
        return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)
    }

    static func hex(_ colour: ANSIStyle.RGB) -> String {
        let value = Int(colour.red) << 16 | Int(colour.green) << 8 | Int(colour.blue)
        let digits = String(value, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
