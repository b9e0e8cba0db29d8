import ForeignText

/// One call as Apple and older versions of Swift print it:
/// `2   Shop    0x1022364bc Cart.total() + 60 (Cart.swift:42)` or `… 0x102230000 + 25788`.
struct CallLine {
    var number: Int
    var image: String
    var address: UInt64
    /// The name of the function; nil if the report has none.
    var function: String?
    /// The offset in the image, if the line has it.
    var offset: UInt64?
    var file: String?
    var line: Int?

    init?(_ text: String) {
        var scanner = LineScanner(text)
        scanner.skipSpaces()
        guard let number = scanner.number() else { return nil }
        let afterNumber = scanner.rest.first
        guard afterNumber == 0x20 || afterNumber == 0x09 else { return nil }
        scanner.skipSpaces()
        // A name of an image may have spaces; the address ends it.
        guard let (image, address, rest) = Self.split(scanner.rest) else { return nil }
        self.number = number
        self.image = image
        self.address = address
        readCall(String(decoding: rest, as: UTF8.self).trimmed)
    }

    private static func split(_ bytes: ArraySlice<UInt8>) -> (String, UInt64, ArraySlice<UInt8>)? {
        var index = bytes.startIndex
        while let zero = bytes[index...].firstIndex(of: 0x30) {
            index = zero + 1
            let isWord = zero == bytes.startIndex || bytes[zero - 1] == 0x20 || bytes[zero - 1] == 0x09
            guard isWord, index < bytes.endIndex, bytes[index] == 0x78 else { continue }
            let digits = bytes[(index + 1)...].prefix(17).prefix { $0.isHexadecimalDigit }
            let isEnd = digits.endIndex == bytes.endIndex || bytes[digits.endIndex] == 0x20
            guard isEnd, let address = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) else { continue }
            let name = String(decoding: bytes[..<zero], as: UTF8.self).trimmed
            return name.isEmpty ? nil : (name, address, bytes[digits.endIndex...])
        }
        return nil
    }

    /// What follows the address.
    private mutating func readCall(_ text: String) {
        var text = text
        readPlace(&text)
        var scanner = LineScanner(text)
        if scanner.hexadecimal() != nil {
            scanner.skipSpaces()
            if scanner.take("+ ") { offset = scanner.longNumber() }
            return
        }
        let name = SwiftBacktrace.withoutOffset(text)
        if name == "<unavailable>" || name == "???" {
            var tail = LineScanner(text.dropFirst(name.utf8.count))
            tail.skipSpaces()
            if tail.take("+ ") { offset = tail.longNumber() }
            return
        }
        let bare = name.byteRange(of: " (in ").map { String(name[..<$0.lowerBound]) } ?? name
        let isInlined = bare.hasPrefix("[inlined] ")
        function = (isInlined ? String(bare.dropFirst(10)) : bare).cleanLine()
    }

    /// Takes ` (Cart.swift:42)` from the end.
    private mutating func readPlace(_ text: inout String) {
        guard text.hasSuffix(")"), let open = text.utf8.lastIndex(of: UInt8(ascii: "(")), open > text.startIndex else {
            return
        }
        let inside = text[text.utf8.index(after: open)...].dropLast()
        guard let colon = inside.lastIndex(of: ":"), let number = Int(inside[inside.index(after: colon)...]) else {
            return
        }
        let name = String(inside[..<colon])
        guard !name.isEmpty, name.contains("."), !name.contains(" ") || name.contains("/") else { return }
        text = String(text[..<open]).trimmed
        if !name.contains("<compiler-generated>") {
            file = name.cleanLine()
            line = (1...10_000_000).contains(number) ? number : nil
        }
    }
}
