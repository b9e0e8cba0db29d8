/// Reads JSON strictly (RFC 8259) and remembers line numbers.
///
/// Foundation's reader gives no line numbers and silently takes the last of two equal names.
struct JSONReader {
    /// The deepest nesting of objects and lists that is read; settings need four levels.
    private static let mostNesting = 32

    private let bytes: [UInt8]
    private var at = 0
    private var line = 1
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Throws: ``JSONMistake`` for the first part that is not JSON.
    static func read(_ bytes: [UInt8]) throws(JSONMistake) -> JSONNode {
        var reader = JSONReader(bytes)
        reader.skipSpace()
        let value = try reader.value()
        reader.skipSpace()
        guard reader.at == bytes.count else {
            throw reader.mistake("There is something after the closing brace. A file has one object.")
        }
        return value
    }

    private func mistake(_ sentence: String) -> JSONMistake { JSONMistake(line: line, description: sentence) }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            if byte == 0x0A { line += 1 }
            at += 1
        }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard let wanted = byte.asciiValue, next == wanted else { return false }
        at += 1
        return true
    }

    private mutating func value() throws(JSONMistake) -> JSONNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.mostNesting else {
            throw mistake("Objects and lists are nested deeper than \(Self.mostNesting) levels.")
        }
        let start = line
        let kind: JSONNode.Kind
        switch next {
        case UInt8(ascii: "{"): kind = .object(try members())
        case UInt8(ascii: "["): kind = .array(try items())
        case UInt8(ascii: "\""): kind = .string(try string())
        case UInt8(ascii: "/"), UInt8(ascii: "#"): throw mistake("JSON has no comments. Remove it.")
        case UInt8(ascii: "'"): throw mistake("JSON has texts in double quotes only.")
        default: kind = try word()
        }
        return JSONNode(kind: kind, line: start)
    }

    private mutating func members() throws(JSONMistake) -> [JSONNode.Member] {
        at += 1
        var members: [JSONNode.Member] = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else {
                throw mistake(
                    next == UInt8(ascii: "}")
                        ? "There is a comma before \"}\". Remove it." : "A name in double quotes is missing.")
            }
            let nameLine = line
            let name = try string()
            skipSpace()
            guard take(":") else { throw mistake("A colon is missing after \"\(name.shortened(to: 100))\".") }
            skipSpace()
            members.append(.init(name: name, line: nameLine, value: try value()))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw mistake("A comma or \"}\" is missing after \"\(name.shortened(to: 100))\".") }
        }
    }

    private mutating func items() throws(JSONMistake) -> [JSONNode] {
        at += 1
        var items: [JSONNode] = []
        skipSpace()
        if take("]") { return items }
        while true {
            skipSpace()
            if next == UInt8(ascii: "]") { throw mistake("There is a comma before \"]\". Remove it.") }
            items.append(try value())
            skipSpace()
            if take("]") { return items }
            guard take(",") else { throw mistake("A comma or \"]\" is missing.") }
        }
    }

    /// `true`, `false`, `null` or a number.
    private mutating func word() throws(JSONMistake) -> JSONNode.Kind {
        let start = at
        while let byte = next, Self.isInWord(byte) { at += 1 }
        let word = String(decoding: bytes[start..<at], as: UTF8.self)
        switch word {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "null": return .null
        case "": throw mistake(next == nil ? "The text ends too early." : "A value is missing.")
        default: break
        }
        guard Self.isNumber(bytes[start..<at]) else {
            throw mistake("\"\(word.shortened(to: 40))\" is not a value. Texts need double quotes.")
        }
        return .number(word)
    }

    /// Matches `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`, without a regular expression, which is far slower.
    private static func isNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        func take(_ wanted: String) -> Bool {
            guard let first = rest.first, wanted.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func takeDigits() -> Bool {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty
        }
        _ = take("-")
        if !take("0") && !takeDigits() { return false }
        if take(".") && !takeDigits() { return false }
        if take("eE") {
            _ = take("+-")
            if !takeDigits() { return false }
        }
        return rest.isEmpty
    }

    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: byte >= 0x80
        }
    }

    private mutating func string() throws(JSONMistake) -> String {
        at += 1
        var text: [UInt8] = []
        while let byte = next {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw mistake("A text has no closing quote, or a control character in it.")
            default: text.append(byte)
            }
        }
        throw mistake("A text has no closing quote.")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONMistake) {
        guard let byte = next else { throw mistake("A text has no closing quote.") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var value = try hexadecimal()
            if 0xD800..<0xDC00 ~= value, bytes[at...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
                at += 2
                let low = try hexadecimal()
                guard 0xDC00..<0xE000 ~= low else { throw mistake("A text has half of a character in it.") }
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(value) else { throw mistake("A text has half of a character in it.") }
            text += Array(String(Character(scalar)).utf8)
        default: throw mistake("A text has an unknown escape in it: \"\\\(Character(Unicode.Scalar(byte)))\".")
        }
    }

    private mutating func hexadecimal() throws(JSONMistake) -> UInt32 {
        let digits = bytes[at...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw mistake("\"\\u\" needs four hexadecimal digits.") }
        at += 4
        return value
    }
}
