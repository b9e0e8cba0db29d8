/// A piece of a JSON text (RFC 8259).
package enum JSONToken {
    case beginObject, endObject, beginArray, endArray
    case key(String)
    case string(String)
    case number(Double)
    case bool(Bool)
    case null
    case finished
    /// The text is not JSON from here on. The words continue a sentence that begins with "the file".
    case broken(String)
}

/// Splits UTF-8 into JSON tokens with bounded memory.
///
/// Foundation's decoder keeps the whole file and all its values in memory; a report may have 200 MB. Several values may
/// follow each other, as in JSON lines. Missing commas are accepted, because some tools join reports badly.
package struct JSONTokenizer {
    /// The bytes that it reads.
    package private(set) var source: ByteSource
    private let valueLimit: Int
    private let depth: Int
    /// The open objects and arrays; true for an array.
    private var open: [Bool] = []
    private var expectsValue = false
    /// Whether ``skipToList()`` has read the bracket of the next token.
    private var hasReadBracket = false

    /// - Parameters:
    ///   - valueLimit: The most bytes that are kept of one string.
    ///   - depth: The most objects and arrays that may be open at the same time.
    package init(_ source: ByteSource, valueLimit: Int, depth: Int) {
        self.source = source
        self.valueLimit = valueLimit
        self.depth = depth
    }

    /// Skips lines of text up to the next object: other programs' output before and after a document.
    package mutating func skipToObject() {
        while let first = source.peek(), first != UInt8(ascii: "{") {
            if first.isXMLSpace { _ = source.next() } else { _ = source.nextLine(limit: 0) }
        }
    }

    /// Skips lines of text up to the next list that is empty or begins with an object: `[INFO] done` is text.
    package mutating func skipToList() {
        while let first = source.peek() {
            guard first == UInt8(ascii: "[") else {
                if first.isXMLSpace { _ = source.next() } else { _ = source.nextLine(limit: 0) }
                continue
            }
            _ = source.next()
            while let byte = source.peek(), byte.isXMLSpace { _ = source.next() }
            hasReadBracket = source.peek() == UInt8(ascii: "{") || source.peek() == UInt8(ascii: "]")
            if hasReadBracket { return }
        }
    }

    /// The next token. It never throws: broken text gives a token that says so.
    package mutating func next() -> JSONToken {
        if hasReadBracket {
            hasReadBracket = false
            open.append(true)
            return .beginArray
        }
        while let byte = source.peek(), byte.isXMLSpace || byte == UInt8(ascii: ",") { _ = source.next() }
        guard let byte = source.next() else { return open.isEmpty ? .finished : .broken("ends in the middle") }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < depth else { return .broken("nests more than \(depth) values") }
            guard mayBeValue else { return unexpected(byte) }
            expectsValue = false
            open.append(byte == UInt8(ascii: "["))
            return byte == UInt8(ascii: "[") ? .beginArray : .beginObject
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard !expectsValue, open.popLast() == (byte == UInt8(ascii: "]")) else { return unexpected(byte) }
            return byte == UInt8(ascii: "]") ? .endArray : .endObject
        case UInt8(ascii: "\""):
            guard let text = string() else { return .broken("ends inside a string") }
            guard open.last == false, !expectsValue else {
                expectsValue = false
                return .string(text)
            }
            while let byte = source.peek(), byte.isXMLSpace { _ = source.next() }
            guard source.next() == UInt8(ascii: ":") else { return .broken("has a key without a value") }
            expectsValue = true
            return .key(text)
        default:
            guard mayBeValue else { return unexpected(byte) }
            expectsValue = false
            return word(byte)
        }
    }

    private var mayBeValue: Bool { open.last != false || expectsValue }

    private func unexpected(_ byte: UInt8) -> JSONToken {
        .broken(
            0x21...0x7E ~= byte ? "has a stray \(Unicode.Scalar(byte))" : "has a stray byte \(String(byte, radix: 16))")
    }

    /// A number, `true`, `false` or `null`.
    private mutating func word(_ first: UInt8) -> JSONToken {
        var bytes = [first]
        while let byte = source.peek(), byte.isLetter || byte.isDigit || "+-.".utf8.contains(byte), bytes.count < 64 {
            bytes.append(byte)
            _ = source.next()
        }
        switch String(decoding: bytes, as: UTF8.self) {
        case "true": return .bool(true)
        case "false": return .bool(false)
        // The writers of Python and JavaScript let these through.
        case "null", "NaN", "Infinity", "-Infinity", "undefined": return .null
        case let text:
            guard first.isDigit || first == UInt8(ascii: "-"), let number = Double(text) else {
                return unexpected(first)
            }
            return number.isFinite ? .number(number) : .null
        }
    }

    private mutating func string() -> String? {
        var text = BoundedText(limit: valueLimit)
        var high: UInt16?
        while true {
            let run = source.run(until: UInt8(ascii: "\""), UInt8(ascii: "\\"))
            if !run.isEmpty {
                if high != nil { text.append(UTF8.encodedReplacementCharacter) }
                high = nil
                text.append(run)
                continue
            }
            guard let byte = source.next() else { return nil }
            if byte == UInt8(ascii: "\"") { break }
            guard let escape = source.next() else { return nil }
            if escape == UInt8(ascii: "u") {
                guard let unit = unit() else { return nil }
                append(unit, after: &high, to: &text)
                continue
            }
            if high != nil { text.append(UTF8.encodedReplacementCharacter) }
            high = nil
            text.append([Self.escaped(escape)])
        }
        if high != nil { text.append(UTF8.encodedReplacementCharacter) }
        return text.dropped == 0 ? String(cleaning: text.bytes) : text.string
    }

    private static func escaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: byte
        }
    }

    /// The four digits after `\u`; U+FFFD if they are not hexadecimal digits.
    private mutating func unit() -> UInt16? {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = source.peek() else { return nil }
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return 0xFFFD }
            value = value << 4 | UInt16(digit)
            _ = source.next()
        }
        return value
    }

    /// Adds a UTF-16 code unit, which is a character or half of a surrogate pair.
    private func append(_ unit: UInt16, after high: inout UInt16?, to text: inout BoundedText) {
        if let first = high, 0xDC00...0xDFFF ~= unit {
            let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
            text.append(UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
            high = nil
            return
        }
        if high != nil { text.append(UTF8.encodedReplacementCharacter) }
        high = nil
        if 0xD800...0xDBFF ~= unit {
            high = unit
        } else {
            text.append(UTF8.encode(Unicode.Scalar(unit) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
        }
    }
}
