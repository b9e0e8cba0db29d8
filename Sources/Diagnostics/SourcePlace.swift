import ForeignText

/// A file and a line in it, as a tool printed them.
struct SourcePlace: Equatable {
    var file: String
    var line: Int?
    var column: Int?
    /// Reads `path:3`, `path:3:5`, `path(3)`, `path(3,5)` or `path: line 3` at the start of `text`, and returns the
    /// rest after it.
    static func read(_ text: Substring) -> (place: SourcePlace, rest: Substring)? {
        let bytes = text.utf8
        var index = bytes.startIndex
        // No path is longer, and a line may contain a thousand colons.
        let end = bytes.index(bytes.startIndex, offsetBy: 1_024, limitedBy: bytes.endIndex) ?? bytes.endIndex
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "(") {
                let path = text[..<index]
                if isPath(path), let found = numbers(text[index...], byte) {
                    return (SourcePlace(file: String(path), line: found.line, column: found.column), found.rest)
                }
            }
            index = bytes.index(after: index)
        }
        return nil
    }

    /// The numbers after a path, including the separator before them.
    private static func numbers(
        _ text: Substring, _ mark: UInt8
    ) -> (line: Int, column: Int?, rest: Substring)? {
        var rest = text.dropFirst()
        if mark == UInt8(ascii: "(") {
            guard let line = number(&rest) else { return nil }
            var column: Int?
            if rest.first == "," {
                rest = rest.dropFirst()
                column = number(&rest)
                // Some tools also give the end.
                while rest.first == ",", case _ = rest.removeFirst(), number(&rest) != nil {}
            }
            guard rest.first == ")" else { return nil }
            return (line, column, rest.dropFirst())
        }
        // Shells write "script.sh: line 3: ".
        if rest.hasPrefix(" line ") {
            rest = rest.dropFirst(6)
        } else if rest.first == " " {
            var spaced = rest.dropFirst()
            guard let line = number(&spaced), spaced.first == ":" else { return nil }
            return (line, nil, spaced)
        }
        guard let line = number(&rest) else { return nil }
        var after = rest
        if after.first == ":", case _ = after.removeFirst(), let column = number(&after),
            after.isEmpty || !(after.first?.isLetter ?? false)
        {
            return (line, column, after)
        }
        guard rest.isEmpty || ":, )]".contains(rest.first ?? ":") else { return nil }
        return (line, nil, rest)
    }

    private static func number(_ text: inout Substring) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard (1...9).contains(digits.count), let value = Int(digits), value > 0 else { return nil }
        text = text.dropFirst(digits.count)
        return value
    }

    /// Whether this could be the name of a file, and not a time, a host or the start of a sentence.
    static func isPath(_ text: Substring) -> Bool {
        guard let first = text.first, !first.isWhitespace, text.contains(where: \.isLetter) else { return false }
        let isAbsolute = first == "/"
        for character in text {
            if "<>\"'`|*?$;{}=\u{0}".contains(character) { return false }
            if character == " " && !isAbsolute { return false }
        }
        if text.byteRange(of: "://") != nil || text.byteRange(of: "::") != nil { return false }
        let name = text.split(separator: "/").last ?? text
        let known = ["Makefile", "makefile", "GNUmakefile", "Dockerfile", "Rakefile", "BUILD", "WORKSPACE", "Justfile"]
        if known.contains(String(name)) { return true }
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
            // A script without an extension, or a program.
            return isAbsolute && !text.contains(" ")
        }
        let suffix = name[name.index(after: dot)...]
        return (1...12).contains(suffix.count) && suffix.allSatisfy { $0.isLetter || $0.isNumber || "_+-".contains($0) }
            && suffix.contains(where: \.isLetter)
    }

    /// Whether the file belongs to a tool and not to the project.
    var isOfTools: Bool { Self.isOfTools(file) }

    static func isOfTools(_ file: String) -> Bool {
        [
            "/site-packages/", "/dist-packages/", "/lib/python", "/node_modules/", "node:internal", "/usr/lib/",
            "/rustc/", "/usr/include/", "/.cargo/registry/", "/swift-testing/", "/libsanitizer/", "/sysdeps/",
        ].contains { file.contains($0) }
            || ["<", "Swift/", "Foundation/", "FoundationEssentials/", "_Concurrency/", "../"].contains {
                file.hasPrefix($0)
            }
    }
}
