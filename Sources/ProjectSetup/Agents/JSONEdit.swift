/// Adds one member to an object in a handwritten JSON file. Everything else stays unchanged, comments included.
struct JSONEdit {
    /// Why a file is not changed.
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// Returns the text with `outer.name` set to `value`, unchanged if it has that value already.
    ///
    /// - Parameters:
    ///   - text: JSON with comments and trailing commas, as editors accept it; empty for a new file.
    ///   - value: JSON on lines that are indented by two spaces for each level, without a line feed at its end.
    /// - Throws: ``Problem`` if the text can't be read, or has another value at that place.
    static func set(_ outer: String, _ name: String, to value: String, in text: String) throws(Problem) -> String {
        if text.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) {
            return "{\n  \"\(outer)\": {\n    \"\(name)\": \(indented(value, by: 4))\n  }\n}\n"
        }
        let root = try JSONOutline.read(text)
        guard case .object(let members) = root.kind else { throw Problem(description: "its value is not an object") }
        guard let place = members.last(where: { $0.name == outer }) else {
            let member = "\"\(outer)\": {\n    \"\(name)\": \(indented(value, by: 4))\n  }"
            return insert(member, into: root, level: 2, text)
        }
        guard case .object(let entries) = place.value.kind else {
            throw Problem(description: "\"\(outer)\" in it is not an object")
        }
        if let known = entries.last(where: { $0.name == name }) {
            let wanted = try JSONOutline.read(value)
            if known.value.isSame(as: wanted, bytes: Array(text.utf8), Array(value.utf8)) { return text }
            return replace(known.value.range, with: indented(value, by: 4), text)
        }
        return insert("\"\(name)\": \(indented(value, by: 4))", into: place.value, level: 4, text)
    }

    private static func indented(_ value: String, by spaces: Int) -> String {
        value.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "\n" + String(repeating: " ", count: spaces))
    }

    private static func replace(_ range: Range<Int>, with piece: String, _ text: String) -> String {
        let bytes = Array(text.utf8)
        return String(
            decoding: bytes[..<range.lowerBound] + Array(piece.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }

    /// Inserts a member after the last one.
    private static func insert(_ member: String, into object: JSONOutline, level: Int, _ text: String) -> String {
        let spaces = String(repeating: " ", count: level)
        guard case .object(let members) = object.kind, let last = members.last else {
            let outer = String(repeating: " ", count: level - 2)
            // The content, for example a comment, stays after the brace.
            let start = object.range.lowerBound + 1
            let inside = Array(text.utf8)[start..<(object.range.upperBound - 1)]
            let isBlank = inside.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
            return replace(
                start..<(isBlank ? object.range.upperBound - 1 : start),
                with: "\n\(spaces)\(member)\n\(isBlank ? outer : "")",
                text)
        }
        let end = last.value.range.upperBound
        // A trailing comma after the last member separates the two.
        if let comma = object.trailingComma {
            return replace((comma + 1)..<(comma + 1), with: "\n\(spaces)\(member)", text)
        }
        return replace(end..<end, with: ",\n\(spaces)\(member)", text)
    }
}

/// The positions of the values in a JSON text.
struct JSONOutline {
    indirect enum Kind {
        case object([Member])
        case array([JSONOutline])
        /// A string, number or word, as written.
        case scalar
    }

    struct Member {
        var name: String
        var value: JSONOutline
    }

    var kind: Kind
    /// Offsets in bytes.
    var range: Range<Int>
    /// The offset of a comma after the last member of an object.
    var trailingComma: Int?

    static func read(_ text: String) throws(JSONEdit.Problem) -> JSONOutline {
        var reader = JSONOutlineReader(bytes: Array(text.utf8))
        return try reader.whole()
    }

    /// Whether both have the same content. Numbers and strings are compared as written.
    func isSame(as other: JSONOutline, bytes: [UInt8], _ others: [UInt8]) -> Bool {
        switch (kind, other.kind) {
        case (.scalar, .scalar): return bytes[range] == others[other.range]
        case (.array(let one), .array(let two)):
            return one.count == two.count
                && zip(one, two).allSatisfy { $0.isSame(as: $1, bytes: bytes, others) }
        case (.object(let one), .object(let two)):
            return one.count == two.count
                && one.allSatisfy { member in
                    two.contains { $0.name == member.name && member.value.isSame(as: $0.value, bytes: bytes, others) }
                }
        default: return false
        }
    }
}

/// Reads JSON with comments and trailing commas.
private struct JSONOutlineReader {
    let bytes: [UInt8]
    private var at = 0
    private var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func whole() throws(JSONEdit.Problem) -> JSONOutline {
        // Skip a byte order mark, which some editors write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        try skip()
        let value = try value()
        try skip()
        guard at == bytes.count else { throw problem("there is something after its value") }
        return value
    }

    private func problem(_ what: String) -> JSONEdit.Problem {
        let line = bytes[..<min(at, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return JSONEdit.Problem(description: "it can't be read as JSON: \(what) (line \(line))")
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skip() throws(JSONEdit.Problem) {
        while let byte = next {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            case UInt8(ascii: "/"):
                let second = at + 1 < bytes.count ? bytes[at + 1] : 0
                if second == UInt8(ascii: "/") {
                    while let byte = next, byte != 0x0A { at += 1; _ = byte }
                } else if second == UInt8(ascii: "*") {
                    at += 2
                    while !(next == UInt8(ascii: "*") && at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "/")) {
                        guard next != nil else { throw problem("a comment has no end") }
                        at += 1
                    }
                    at += 2
                } else {
                    throw problem("a slash is out of place")
                }
            default: return
            }
        }
    }

    private mutating func value() throws(JSONEdit.Problem) -> JSONOutline {
        depth += 1
        defer { depth -= 1 }
        guard depth < 100 else { throw problem("it is nested too deep") }
        let start = at
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""):
            _ = try string()
            return JSONOutline(kind: .scalar, range: start..<at)
        default:
            while let byte = next, isWord(byte) { at += 1 }
            let word = String(decoding: bytes[start..<at], as: UTF8.self)
            guard ["true", "false", "null"].contains(word) || Double(word) != nil else {
                throw problem("a value is missing")
            }
            return JSONOutline(kind: .scalar, range: start..<at)
        }
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    private mutating func string() throws(JSONEdit.Problem) -> String {
        guard next == UInt8(ascii: "\"") else { throw problem("a name in quotes is missing") }
        at += 1
        let start = at
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw problem("a string has no end") }
            at += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard next != nil else { throw problem("a string has no end") }
        at += 1
        return String(decoding: bytes[start..<(at - 1)], as: UTF8.self)
    }

    private mutating func object() throws(JSONEdit.Problem) -> JSONOutline {
        let start = at
        at += 1
        var members: [JSONOutline.Member] = []
        var comma: Int?
        while true {
            try skip()
            if next == UInt8(ascii: "}") { break }
            guard members.isEmpty || comma != nil else { throw problem("a comma is missing") }
            let name = try string()
            try skip()
            guard next == UInt8(ascii: ":") else { throw problem("a colon is missing") }
            at += 1
            try skip()
            members.append(JSONOutline.Member(name: name, value: try value()))
            try skip()
            comma = next == UInt8(ascii: ",") ? at : nil
            if comma != nil { at += 1 }
        }
        at += 1
        return JSONOutline(kind: .object(members), range: start..<at, trailingComma: comma)
    }

    private mutating func array() throws(JSONEdit.Problem) -> JSONOutline {
        let start = at
        at += 1
        var items: [JSONOutline] = []
        var hasComma = true
        while true {
            try skip()
            if next == UInt8(ascii: "]") { break }
            guard hasComma else { throw problem("a comma is missing") }
            items.append(try value())
            try skip()
            hasComma = next == UInt8(ascii: ",")
            if hasComma { at += 1 }
        }
        at += 1
        return JSONOutline(kind: .array(items), range: start..<at)
    }
}
