/// A piece of an XML document.
package enum XMLToken {
    /// `<name …>` or `<name …/>`; names come without their namespace prefix.
    case start(name: String, attributes: XMLAttributes, isEmpty: Bool)
    case end(name: String)
    /// A part of a text, with references resolved. One text may have many parts.
    case text(ArraySlice<UInt8>)
    case finished
    /// The text is not XML from here on. The words continue a sentence that begins with "the file".
    case broken(String)
    /// A document type that declares entities. None of them was resolved.
    case refused
}

/// The attributes of one element, by local name.
package struct XMLAttributes {
    fileprivate(set) var pairs: [(name: String, value: String)] = []

    package init() {}

    /// The value of an attribute; nil if the element does not have it.
    package subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }
}

/// Splits UTF-8 into XML tokens with bounded memory.
///
/// libxml2 is not used: test reports contain what XML forbids (raw control characters, a bare `&`), and libxml2 stops
/// there. And a reader that knows only XML's five predefined entities can't be made to expand or fetch others.
package struct XMLTokenizer {
    /// The bytes that it reads.
    package private(set) var source: ByteSource
    private let valueLimit: Int
    private var inCharacterData = false

    /// The most attributes of one element; further ones are skipped.
    private static let attributeLimit = 64
    private static let nameLimit = 256

    /// - Parameter valueLimit: The most bytes that are kept of one attribute's value.
    package init(_ source: ByteSource, valueLimit: Int) {
        self.source = source
        self.valueLimit = valueLimit
    }

    /// The next token. It never throws: broken text gives a token that says so.
    package mutating func next() -> XMLToken {
        while true {
            if inCharacterData {
                guard let token = characterData() else { continue }
                return token
            }
            let run = source.run(until: UInt8(ascii: "<"), UInt8(ascii: "&"))
            if !run.isEmpty { return .text(run) }
            guard let byte = source.next() else { return .finished }
            if byte == UInt8(ascii: "&") { return .text(reference()[...]) }
            if let token = markup() { return token }
        }
    }

    /// The token after a `<`; nil for a comment and the like.
    private mutating func markup() -> XMLToken? {
        switch source.peek() {
        case nil: return .broken("ends inside a tag")
        case UInt8(ascii: "/"):
            _ = source.next()
            guard let name = name() else { return .broken("has an end tag without a name") }
            skipSpace()
            guard source.next() == UInt8(ascii: ">") else {
                return .broken("has an end tag </\(name) that never closes")
            }
            return .end(name: name)
        case UInt8(ascii: "?"):
            return skip(past: "?>") ? nil : .broken("ends inside a processing instruction")
        case UInt8(ascii: "!"):
            _ = source.next()
            return declaration()
        default: return startTag()
        }
    }

    private mutating func declaration() -> XMLToken? {
        switch source.peek() {
        case UInt8(ascii: "-"):
            _ = source.next()
            guard source.next() == UInt8(ascii: "-") else { return .broken("has a broken comment") }
            return skip(past: "-->") ? nil : .broken("ends inside a comment")
        case UInt8(ascii: "["):
            for expected in "[CDATA[".utf8 {
                guard source.next() == expected else { return .broken("has a broken CDATA section") }
            }
            inCharacterData = true
            return nil
        default: return documentType()
        }
    }

    /// Skips `<!DOCTYPE …>`. A declaration of anything but elements and attributes is refused.
    private mutating func documentType() -> XMLToken? {
        var depth = 0
        var quote: UInt8?
        var window: UInt64 = 0
        while let byte = source.next() {
            // The last eight bytes in lower case: "<!entity" has exactly eight.
            window = window << 8 | UInt64(0x41...0x5A ~= byte ? byte | 0x20 : byte)
            if window == Self.entity || byte == UInt8(ascii: "%") { return .refused }
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">"):
                if depth <= 0 { return nil }
                depth -= 1
            default: break
            }
        }
        return .broken("ends inside a document type")
    }

    private static let entity: UInt64 = "<!entity".utf8.reduce(0) { $0 << 8 | UInt64($1) }

    private mutating func startTag() -> XMLToken {
        guard let name = name() else { return .broken("has a < that does not start a tag") }
        var attributes = XMLAttributes()
        while true {
            skipSpace()
            switch source.peek() {
            case nil: return .broken("ends inside <\(name)>")
            case UInt8(ascii: ">"):
                _ = source.next()
                return .start(name: name, attributes: attributes, isEmpty: false)
            case UInt8(ascii: "/"):
                _ = source.next()
                guard source.next() == UInt8(ascii: ">") else { return .broken("has a stray / in <\(name)>") }
                return .start(name: name, attributes: attributes, isEmpty: true)
            default:
                guard let key = self.name() else { return .broken("has a stray character in <\(name)>") }
                skipSpace()
                guard source.next() == UInt8(ascii: "=") else {
                    return .broken("has an attribute \(key) without a value in <\(name)>")
                }
                skipSpace()
                guard let quote = source.next(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                    return .broken("has an unquoted attribute \(key) in <\(name)>")
                }
                guard let value = value(until: quote) else {
                    return .broken("ends inside the attribute \(key) of <\(name)>")
                }
                if attributes.pairs.count < Self.attributeLimit { attributes.pairs.append((key, value)) }
            }
        }
    }

    private mutating func value(until quote: UInt8) -> String? {
        var text = BoundedText(limit: valueLimit)
        while true {
            let run = source.run(until: quote, UInt8(ascii: "&"))
            if !run.isEmpty {
                text.append(run)
                continue
            }
            switch source.next() {
            case nil: return nil
            case quote:
                return text.dropped == 0 ? String(cleaning: text.bytes) : text.string
            default: text.append(reference())
            }
        }
    }

    /// The local part of a name; nil if no name starts here.
    private mutating func name() -> String? {
        var bytes: [UInt8] = []
        while let byte = source.peek() {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: "\""),
                UInt8(ascii: "'"), UInt8(ascii: "&"), 0...0x20:
                return bytes.isEmpty ? nil : String(cleaning: bytes)
            case UInt8(ascii: ":"): bytes.removeAll(keepingCapacity: true)
            default:
                guard byte >= 0x80 || byte.isLetter || byte == UInt8(ascii: "_") || !bytes.isEmpty else { return nil }
                if bytes.count < Self.nameLimit { bytes.append(byte) }
            }
            _ = source.next()
        }
        return bytes.isEmpty ? nil : String(cleaning: bytes)
    }

    /// The character that a reference after `&` stands for; otherwise the text unchanged.
    private mutating func reference() -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = source.peek(), byte.isLetter || byte.isDigit || byte == UInt8(ascii: "#"), bytes.count < 12 {
            bytes.append(byte)
            _ = source.next()
        }
        let literal = [UInt8(ascii: "&")] + bytes
        guard source.peek() == UInt8(ascii: ";"), !bytes.isEmpty else { return literal }
        let name = String(decoding: bytes, as: UTF8.self)
        var result: [UInt8] = []
        switch name {
        case "lt": result = [UInt8(ascii: "<")]
        case "gt": result = [UInt8(ascii: ">")]
        case "amp": result = [UInt8(ascii: "&")]
        case "quot": result = [UInt8(ascii: "\"")]
        case "apos": result = [UInt8(ascii: "'")]
        default:
            guard name.hasPrefix("#") else { return literal }
            let digits = name.dropFirst()
            let value =
                digits.first == "x" || digits.first == "X"
                ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
            TextDecoder.append(value.flatMap(Unicode.Scalar.init) ?? "\u{FFFD}", to: &result)
        }
        _ = source.next()
        return result
    }

    private mutating func characterData() -> XMLToken? {
        let bracket = UInt8(ascii: "]")
        let run = source.run(until: bracket, bracket)
        if !run.isEmpty { return .text(run) }
        var brackets = 0
        while source.peek() == bracket {
            _ = source.next()
            brackets += 1
        }
        guard brackets > 0 else {
            inCharacterData = false
            return .broken("ends inside a CDATA section")
        }
        if brackets >= 2, source.peek() == UInt8(ascii: ">") {
            _ = source.next()
            inCharacterData = false
            brackets -= 2
        }
        return brackets == 0 ? nil : .text([UInt8](repeating: bracket, count: min(brackets, 4096))[...])
    }

    private mutating func skip(past pattern: StaticString) -> Bool {
        let count = pattern.utf8CodeUnitCount
        let wanted = pattern.withUTF8Buffer { $0.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
        let mask = (1 as UInt64) << (8 * UInt64(count)) - 1
        var window: UInt64 = 0
        while let byte = source.next() {
            window = window << 8 | UInt64(byte)
            if window & mask == wanted { return true }
        }
        return false
    }

    private mutating func skipSpace() {
        while let byte = source.peek(), byte.isXMLSpace { _ = source.next() }
    }
}
