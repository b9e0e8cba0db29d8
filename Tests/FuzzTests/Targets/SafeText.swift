/// Text that may reach a terminal or a page, judged by readers that share no code with the checked code.
enum SafeText {
    /// Only text, line feeds, tabs, and where `colours` are allowed, SGR.
    static func demandTerminal(_ text: String, colours: Bool) throws {
        let scalars = Array(text.unicodeScalars)
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            switch scalar.value {
            case 0x0A, 0x09: continue
            case 0x1B:
                try demand(colours, "an escape at \(index) although no colours are wanted")
                try demand(index < scalars.count && scalars[index] == "[", "an escape at \(index) that is no CSI")
                index += 1
                let isParameter: (Unicode.Scalar) -> Bool = { ("0"..."9").contains($0) || $0 == ";" || $0 == ":" }
                while index < scalars.count, isParameter(scalars[index]) { index += 1 }
                try demand(index < scalars.count && scalars[index] == "m", "a CSI at \(index) that is no SGR")
                index += 1
            case 0..<0x20, 0x7F...0x9F: throw FuzzViolation("U+\(String(scalar.value, radix: 16)) at \(index)")
            case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029:
                throw FuzzViolation("U+\(String(scalar.value, radix: 16)), which reorders text, at \(index)")
            default: continue
            }
        }
    }

    /// The text without SGR; ``demandTerminal(_:colours:)`` has checked it.
    static func withoutColours(_ text: String) -> [UInt8] {
        var plain: [UInt8] = []
        var isInside = false
        for byte in text.utf8 {
            if byte == 0x1B {
                isInside = true
            } else if isInside {
                isInside = byte != UInt8(ascii: "m")
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// The text of HTML that contains only `<span class="…">`, `</span>` and character references.
    static func textOfSpans(_ html: [UInt8]) throws -> [UInt8] {
        var text: [UInt8] = []
        var depth = 0
        var index = 0
        func starts(_ prefix: String) -> Bool { html[index...].starts(with: prefix.utf8) }
        let opening = "<span class=\""
        while index < html.count {
            switch html[index] {
            case UInt8(ascii: "<"):
                if starts("</span>") {
                    depth -= 1
                    try demand(depth >= 0, "a span is closed that is not open")
                    index += 7
                } else {
                    try demand(starts(opening), "markup that is no span at \(index)")
                    index += opening.utf8.count
                    while index < html.count, isClassByte(html[index]) { index += 1 }
                    try demand(starts("\">"), "a class with a foreign byte at \(index)")
                    index += 2
                    depth += 1
                }
            case UInt8(ascii: "&"):
                let entities = [
                    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&#39;", "'"),
                ]
                guard let (entity, meaning) = entities.first(where: { starts($0.0) }) else {
                    throw FuzzViolation("a bare & at \(index)")
                }
                text += Array(meaning.utf8)
                index += entity.utf8.count
            case UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
                throw FuzzViolation("a bare character of markup at \(index)")
            default:
                if html[index] == 0x0A { try demand(depth == 0, "a span goes on in the next line") }
                text.append(html[index])
                index += 1
            }
        }
        try demand(depth == 0, "\(depth) spans are left open")
        return text
    }

    private static func isClassByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x20
    }
}
