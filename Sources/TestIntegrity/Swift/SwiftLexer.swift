/// Cuts Swift source into words, within limits and without a compiler: nothing of a change is given to one here.
///
/// It knows what a word search can't tell apart: string literals (raw, of several lines, with code in them), comments
/// inside comments, regular expressions, and the directives of conditional compilation. The grammar is that of
/// "Lexical Structure" in The Swift Programming Language.
struct SwiftLexer {
    /// What a person has to look at, because the text ends inside something, or is no Swift as far as this can tell.
    struct Problem: Error, Equatable {
        var line: Int
        var message: String
    }

    static let tokenLimit = 400_000
    /// Literals inside interpolations inside literals.
    static let depthLimit = 32

    private let bytes: [UInt8]
    private var place = 0
    private var line = 1
    private var isSpaced = true
    private var startsLine = true
    private var tokens: [SwiftToken] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func tokens(of bytes: [UInt8]) throws(Problem) -> [SwiftToken] {
        var lexer = SwiftLexer(bytes)
        try lexer.run()
        return lexer.tokens
    }

    private func byte(_ offset: Int = 0) -> UInt8 { place + offset < bytes.count ? bytes[place + offset] : 0 }

    private func problem(_ message: String, line: Int? = nil) -> Problem {
        Problem(line: line ?? self.line, message: message)
    }

    private mutating func run() throws(Problem) {
        // A mark of the byte order, or the line that names an interpreter.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        if byte() == 0x23, byte(1) == 0x21 { skipLine() }
        while place < bytes.count {
            guard tokens.count < Self.tokenLimit else { throw problem("it has more than \(Self.tokenLimit) words") }
            try next()
        }
    }

    private mutating func next() throws(Problem) {
        let first = byte()
        switch first {
        case 0x0A:
            line += 1
            place += 1
            (isSpaced, startsLine) = (true, true)
        case 0x00, 0x09, 0x0B, 0x0C, 0x0D, 0x20:
            place += 1
            isSpaced = true
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): skipLine()
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): try skipComment()
        case UInt8(ascii: "/"):
            if let end = regexEnd() { return add(.regex, upTo: end) }
            operatorWord()
        case UInt8(ascii: "\""): try string(hashes: 0)
        case UInt8(ascii: "#"): try afterHash()
        case UInt8(ascii: "`"):
            guard let end = bytes[(place + 1)...].firstIndex(where: { $0 == first || $0 == 0x0A }), bytes[end] == first
            else { throw problem("a backtick is not closed") }
            let text = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
            add(.identifier, upTo: end + 1, text: text)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
        case UInt8(ascii: "."):
            if byte(1) == first { return operatorWord(withDots: true) }
            add(.punctuation, upTo: place + 1)
        case _ where Self.isOperator(first): operatorWord()
        case _ where Self.isIdentifier(first) || first == UInt8(ascii: "$"):
            var end = place + 1
            while end < bytes.count, Self.isIdentifier(bytes[end]) { end += 1 }
            add(.identifier, upTo: end)
        default: add(.punctuation, upTo: place + 1)
        }
    }

    private mutating func add(_ kind: SwiftToken.Kind, upTo end: Int, text: String? = nil, line: Int? = nil) {
        let text = text ?? String(decoding: bytes[place..<end], as: UTF8.self)
        tokens.append(
            SwiftToken(kind: kind, text: text, line: line ?? self.line, isSpaced: isSpaced, startsLine: startsLine))
        place = end
        (isSpaced, startsLine) = (false, false)
    }

    private mutating func skipLine() {
        while place < bytes.count, byte() != 0x0A { place += 1 }
        isSpaced = true
    }

    private mutating func skipComment() throws(Problem) {
        let start = line
        var depth = 0
        repeat {
            switch (byte(), byte(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                place += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                place += 2
            case (0x0A, _):
                line += 1
                startsLine = true
                place += 1
            default: place += 1
            }
            if place >= bytes.count, depth > 0 {
                throw problem("a comment that begins here is not closed", line: start)
            }
        } while depth > 0
        isSpaced = true
    }

    private mutating func number() {
        var end = place + 1
        while end < bytes.count {
            let next = bytes[end]
            let isPoint =
                next == UInt8(ascii: ".") && end + 1 < bytes.count && Self.isDigit(bytes[end + 1])
                && !bytes[place..<end].contains(UInt8(ascii: "."))
            let isSign =
                (next == UInt8(ascii: "-") || next == UInt8(ascii: "+"))
                && [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[end - 1])
                && byte(1) != UInt8(ascii: "x")
            guard Self.isIdentifier(next) || isPoint || isSign else { break }
            end += 1
        }
        add(.number, upTo: end)
    }

    private mutating func operatorWord(withDots: Bool = false) {
        var end = place + 1
        while end < bytes.count, Self.isOperator(bytes[end]) || withDots && bytes[end] == UInt8(ascii: ".") {
            // A comment may begin inside what would be an operator.
            if bytes[end] == UInt8(ascii: "/"), end + 1 < bytes.count,
                [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(bytes[end + 1])
            {
                break
            }
            end += 1
        }
        add(.operator, upTo: end)
    }

    private mutating func afterHash() throws(Problem) {
        var hashes = 0
        while hashes < Self.depthLimit, byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
        if byte(hashes) == UInt8(ascii: "\"") { return try string(hashes: hashes) }
        if byte(hashes) == UInt8(ascii: "/") { return try extendedRegex(hashes: hashes) }
        var end = place + 1
        while end < bytes.count, Self.isIdentifier(bytes[end]) { end += 1 }
        let name = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
        guard let directive = SwiftToken.Directive(rawValue: name) else {
            return add(end == place + 1 ? .punctuation : .macro, upTo: end)
        }
        let start = end
        while end < bytes.count, bytes[end] != 0x0A {
            if bytes[end] == UInt8(ascii: "/"), end + 1 < bytes.count,
                [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(bytes[end + 1])
            {
                break
            }
            end += 1
        }
        let condition = bytes[start..<end].filter { $0 > 0x20 }
        add(.directive(directive), upTo: end, text: String(decoding: condition, as: UTF8.self))
    }
}

extension SwiftLexer {
    /// The end of a literal whose first quote follows `hashes` number signs.
    private mutating func string(hashes: Int) throws(Problem) {
        let start = line
        let end = try stringEnd(from: place, hashes: hashes, depth: 0)
        let first = place
        // The lines were counted while it was read; the word belongs to the first.
        add(.string, upTo: end, text: String(decoding: bytes[first..<end], as: UTF8.self), line: start)
    }

    private mutating func stringEnd(from start: Int, hashes: Int, depth: Int) throws(Problem) -> Int {
        guard depth < Self.depthLimit else { throw problem("literals are nested more than \(Self.depthLimit) deep") }
        let quote = UInt8(ascii: "\"")
        let opening = line
        var at = start + hashes
        let isLong = at + 2 < bytes.count && bytes[at] == quote && bytes[at + 1] == quote && bytes[at + 2] == quote
        // `""` is empty; `"""` begins a literal of several lines, and so does `#"""`.
        at += isLong ? 3 : 1
        while at < bytes.count {
            let next = bytes[at]
            if next == 0x0A {
                guard isLong else { throw problem("a string that begins here is not closed", line: opening) }
                line += 1
            } else if next == quote, closes(at, isLong: isLong, hashes: hashes) {
                return at + (isLong ? 3 : 1) + hashes
            } else if next == UInt8(ascii: "\\"), hasHashes(after: at, hashes) {
                let escaped = at + 1 + hashes
                guard escaped < bytes.count else { break }
                if bytes[escaped] == UInt8(ascii: "(") {
                    at = try interpolationEnd(from: escaped, depth: depth + 1)
                    continue
                }
                if bytes[escaped] != 0x0A {
                    at = escaped + 1
                    continue
                }
            }
            at += 1
        }
        throw problem("a string that begins here is not closed", line: opening)
    }

    private func hasHashes(after at: Int, _ count: Int) -> Bool {
        at + count < bytes.count && bytes[(at + 1)..<(at + 1 + count)].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private func closes(_ at: Int, isLong: Bool, hashes: Int) -> Bool {
        let width = isLong ? 3 : 1
        guard at + width + hashes <= bytes.count else { return false }
        return bytes[at..<(at + width)].allSatisfy { $0 == UInt8(ascii: "\"") }
            && bytes[(at + width)..<(at + width + hashes)].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    /// From the `(` of an interpolation to behind its `)`.
    private mutating func interpolationEnd(from start: Int, depth: Int) throws(Problem) -> Int {
        let opening = line
        var at = start
        var parentheses = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "("): parentheses += 1
            case UInt8(ascii: ")"):
                parentheses -= 1
                if parentheses == 0 { return at + 1 }
            case 0x0A: line += 1
            case UInt8(ascii: "\""):
                var hashes = 0
                while hashes < Self.depthLimit, at - hashes - 1 > start, bytes[at - hashes - 1] == UInt8(ascii: "#") {
                    hashes += 1
                }
                at = try stringEnd(from: at - hashes, hashes: hashes, depth: depth)
                continue
            default: break
            }
            at += 1
        }
        throw problem("what is interpolated in a string here is not closed", line: opening)
    }

    private mutating func extendedRegex(hashes: Int) throws(Problem) {
        let start = line
        var at = place + hashes + 1
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "\\") {
                at += 2
                continue
            }
            if bytes[at] == 0x0A { line += 1 }
            if bytes[at] == UInt8(ascii: "/"), hasHashes(after: at, hashes) {
                let text = String(decoding: bytes[place..<(at + 1 + hashes)], as: UTF8.self)
                return add(.regex, upTo: at + 1 + hashes, text: text, line: start)
            }
            at += 1
        }
        throw problem("a regular expression that begins here is not closed", line: start)
    }

    /// Behind the closing slash of a `/…/`, where one can begin here; nil for an operator.
    ///
    /// The compiler's rule: it stands where an expression begins, no white space follows, and it ends on its line.
    private func regexEnd() -> Int? {
        let next = byte(1)
        guard next > 0x20, next != UInt8(ascii: "="), !(next == UInt8(ascii: ")")) else { return nil }
        if let last = tokens.last {
            switch last.kind {
            case .number, .string, .regex, .macro: return nil
            case .identifier:
                guard ["return", "try", "await", "in", "case", "where", "if", "else", "throw"].contains(last.text)
                else {
                    return nil
                }
            case .punctuation: if [")", "]", "}", "."].contains(last.text) { return nil }
            case .operator: if !isSpaced, last.text.hasSuffix("?") || last.text.hasSuffix("!") { return nil }
            case .directive: break
            }
        }
        var at = place + 1
        var classes = 0
        // Far ahead there is none: a line of a million slashes must not be read a million times.
        let limit = min(bytes.count, place + 500)
        while at < limit, bytes[at] != 0x0A {
            switch bytes[at] {
            case UInt8(ascii: "\\"): at += 1
            case UInt8(ascii: "["): classes += 1
            case UInt8(ascii: "]"): classes = max(0, classes - 1)
            case UInt8(ascii: "/") where classes == 0: return at + 1
            default: break
            }
            at += 1
        }
        return nil
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xFF:
            true
        default: false
        }
    }

    static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "!"),
            UInt8(ascii: "*"), UInt8(ascii: "%"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"),
            UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "~"), UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
