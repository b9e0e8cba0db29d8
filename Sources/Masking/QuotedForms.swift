/// A text with the escapes of JSON, XML, HTML and shells, and in UTF-16.
enum QuotedForms {
    static func of(_ text: [UInt8], isRich: Bool) -> [[UInt8]] {
        var forms = utf16(text)
        // Most tokens contain nothing that needs an escape.
        guard !text.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) else {
            return forms
        }
        let scalars = scalars(of: text)
        forms += json(scalars, isRich: isRich)
        forms += xml(scalars, isRich: isRich)
        if isRich { forms += shell(scalars) }
        return forms
    }

    /// A scalar, or a byte that is part of no scalar.
    private enum Part {
        case scalar(Unicode.Scalar)
        case byte(UInt8)
    }

    private static func scalars(of text: [UInt8]) -> [Part] {
        guard let string = String(validating: text, as: UTF8.self) else {
            return text.map { $0 < 0x80 ? .scalar(Unicode.Scalar($0)) : .byte($0) }
        }
        return string.unicodeScalars.map { .scalar($0) }
    }

    /// The parts, each unchanged or as `escape` returns it.
    private static func escaped(_ parts: [Part], _ escape: (Unicode.Scalar) -> String?) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .byte(let byte): result.append(byte)
            case .scalar(let scalar):
                if let text = escape(scalar) { result += text.utf8 } else { result += String(scalar).utf8 }
            }
        }
        return result
    }

    static func utf16(_ text: [UInt8]) -> [[UInt8]] {
        guard let string = String(validating: text, as: UTF8.self) else { return [] }
        let units = Array(string.utf16)
        return [
            units.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] },
        ]
    }

    // MARK: JSON (RFC 8259)

    /// The text in a JSON string as most libraries write it: with `/` escaped or not, and with non-ASCII characters
    /// escaped.
    static func json(_ text: [UInt8]) -> Set<[UInt8]> {
        let dialects = [JSONDialect(), JSONDialect(escapesSlash: true), JSONDialect(isASCII: true)]
        let parts = scalars(of: text)
        return Set(dialects.map { dialect in escaped(parts) { escape($0, dialect) } })
    }

    private struct JSONDialect {
        /// Whether two-character escapes are used where they exist; otherwise `\u00XX` is used for all.
        var isShort = true
        var escapesSlash = false
        /// Characters that are written as `\u00XX` although JSON does not require it.
        var further = ""
        /// Whether all non-ASCII characters are written as `\uXXXX`.
        var isASCII = false
        var isUpper = false
    }

    private static func json(_ parts: [Part], isRich: Bool) -> Set<[UInt8]> {
        var dialects = [
            JSONDialect(), JSONDialect(escapesSlash: true), JSONDialect(isASCII: true),
            JSONDialect(isShort: false), JSONDialect(isShort: false, isUpper: true),
        ]
        if isRich {
            // A dialect need not be tried if the text has none of the characters that it treats differently.
            func has(_ isMeant: (Unicode.Scalar) -> Bool) -> Bool {
                parts.contains { if case .scalar(let scalar) = $0 { isMeant(scalar) } else { false } }
            }
            func ways(_ isMeant: (Unicode.Scalar) -> Bool) -> [Bool] { has(isMeant) ? [false, true] : [false] }
            let slashes = ways { $0 == "/" }
            let shorts = has { $0.value < 0x20 || $0 == "\"" || $0 == "\\" } ? [true, false] : [true]
            let encodings = ways { $0.value > 0x7e }
            dialects = []
            // Go, Gson, PHP and .NET each escape different characters to protect HTML.
            for further in ["", "<>&", "<>&'=", "<>&'\"", "<>&'\"+`\u{7f}"]
            where further.isEmpty || has({ further.unicodeScalars.contains($0) }) {
                for isShort in shorts {
                    for escapesSlash in slashes {
                        for isASCII in encodings {
                            for isUpper in [true, false] {
                                dialects.append(
                                    JSONDialect(
                                        isShort: isShort, escapesSlash: escapesSlash, further: further,
                                        isASCII: isASCII, isUpper: isUpper))
                            }
                        }
                    }
                }
            }
        }
        return Set(dialects.map { dialect in escaped(parts) { escape($0, dialect) } })
    }

    private static func escape(_ scalar: Unicode.Scalar, _ dialect: JSONDialect) -> String? {
        func units() -> String {
            Character(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16, uppercase: dialect.isUpper)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
        if dialect.further.unicodeScalars.contains(scalar) { return units() }
        if scalar == "/" { return dialect.escapesSlash ? "\\/" : nil }
        if dialect.isShort {
            switch scalar {
            case "\"", "\\": return "\\" + String(scalar)
            case "\n": return "\\n"
            case "\r": return "\\r"
            case "\t": return "\\t"
            case "\u{8}": return "\\b"
            case "\u{c}": return "\\f"
            default: break
            }
        }
        let isEscaped =
            scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || dialect.isASCII && scalar.value > 0x7e
        return isEscaped ? units() : nil
    }

    // MARK: XML and HTML

    private struct XMLDialect {
        var quote: String?
        var apostrophe: String?
        var lineFeed: String?
        var greater: String?
    }

    private static func xml(_ parts: [Part], isRich: Bool) -> Set<[UInt8]> {
        var dialects = [
            XMLDialect(greater: "&gt;"), XMLDialect(quote: "&quot;", greater: "&gt;"),
            XMLDialect(quote: "&quot;", apostrophe: "&apos;", lineFeed: "&#10;", greater: "&gt;"),
        ]
        if isRich {
            func ways(_ scalar: Unicode.Scalar, _ escapes: String...) -> [String?] {
                let isThere = parts.contains { if case .scalar(scalar) = $0 { true } else { false } }
                return isThere ? [nil] + escapes : [nil]
            }
            dialects = []
            for quote in ways("\"", "&quot;", "&#34;") {
                for apostrophe in ways("'", "&apos;", "&#39;", "&#x27;", "&#039;") {
                    for lineFeed in ways("\n", "&#10;", "&#xA;", "&#xa;") {
                        for greater in ways(">", "&gt;") {
                            dialects.append(
                                XMLDialect(
                                    quote: quote, apostrophe: apostrophe, lineFeed: lineFeed, greater: greater))
                        }
                    }
                }
            }
        }
        return Set(
            dialects.map { dialect in
                escaped(parts) { scalar in
                    switch scalar {
                    case "&": "&amp;"
                    case "<": "&lt;"
                    case ">": dialect.greater
                    case "\"": dialect.quote
                    case "'": dialect.apostrophe
                    case "\n": dialect.lineFeed
                    default: nil
                    }
                }
            })
    }

    // MARK: Shells, and languages that write texts like C

    private static func shell(_ parts: [Part]) -> Set<[UInt8]> {
        func cLike(_ scalar: Unicode.Scalar, quotes: String, _ control: (UInt32) -> String) -> String? {
            switch scalar {
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case _ where quotes.unicodeScalars.contains(scalar): "\\" + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: control(scalar.value)
            default: nil
            }
        }
        func hex(_ value: UInt32) -> String { "\\x" + (value < 16 ? "0" : "") + String(value, radix: 16) }
        func octal(_ value: UInt32) -> String {
            let digits = String(value, radix: 8)
            return value == 0x1b ? "\\E" : "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
        // The output of `set -x` and `printf %q`.
        let plain = Set("%+,-./:=@_".unicodeScalars)
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value > 0x7f || UInt8(ascii: scalar).isLetterOrDigit || plain.contains(scalar)
        }
        var forms: Set<[UInt8]> = [
            escaped(parts) { $0 == "'" ? "'\\''" : nil }, escaped(parts) { $0 == "'" ? "'\"'\"'" : nil },
            escaped(parts) { isPlain($0) ? nil : "\\" + String($0) },
            escaped(parts) { cLike($0, quotes: "'", octal) },
        ]
        for quotes in ["", "'", "\""] { forms.insert(escaped(parts) { cLike($0, quotes: quotes, hex) }) }
        return forms
    }
}
