/// Adds one table to a handwritten TOML file. Everything else stays unchanged.
enum TOMLEdit {
    /// The text with the table at its end; unchanged if it has a table of this name with those lines.
    ///
    /// - Parameters:
    ///   - name: The table's dotted name, without quotes.
    ///   - lines: The table's content, `key = value` each.
    /// - Throws: ``JSONEdit/Problem`` if the text can't be read, or defines the table in another way.
    static func setTable(_ name: String, _ lines: [String], in text: String) throws(JSONEdit.Problem) -> String {
        let outline = try TOMLOutline(text)
        if let known = outline.tables.first(where: { $0.name == name }) {
            let missing = lines.filter { line in
                !known.lines.contains { $0.split(separator: "#").first.map(trim) == line }
            }
            if missing.isEmpty { return text }
            throw JSONEdit.Problem(
                description: "it has a table [\(name)] of its own without \(missing.joined(separator: " and "))")
        }
        let parts = name.split(separator: ".").map(String.init)
        // A key of an outer table could define the same, but this reader does not parse such values.
        if let outer = parts.first,
            let key = outline.rootKeys.first(where: { $0 == outer || $0.hasPrefix(outer + ".") || $0 == name })
        {
            throw JSONEdit.Problem(description: "it sets \"\(key)\" as a key, where a table [\(name)] can't be added")
        }
        if let table = outline.tables.first(where: { $0.name == parts[0] }),
            table.keys.contains(where: { $0 == parts[1] || $0.hasPrefix(parts[1] + ".") })
        {
            throw JSONEdit.Problem(description: "its table [\(parts[0])] sets \"\(parts[1])\" as a key")
        }
        let gap = text.isEmpty ? "" : text.hasSuffix("\n") ? "\n" : "\n\n"
        return text + gap + "[\(name)]\n" + lines.joined(separator: "\n") + "\n"
    }

    /// Splits at line feeds and drops a carriage return before one: in Swift the two are one character that is no line
    /// feed.
    fileprivate static func lines(of text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    fileprivate static func trim(_ text: some StringProtocol) -> String {
        String(
            text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
    }
}

/// The tables of a TOML text and their keys, as far as adding a table requires it.
private struct TOMLOutline {
    struct Table {
        /// Dotted, without quotes and spaces.
        var name: String
        var keys: [String] = []
        var lines: [String] = []
    }

    var tables: [Table] = []
    /// Keys before the first table.
    var rootKeys: [String] = []

    init(_ text: String) throws(JSONEdit.Problem) {
        var open = Open()
        for (number, raw) in TOMLEdit.lines(of: text).enumerated() {
            let line = TOMLEdit.trim(raw)
            func problem(_ what: String) -> JSONEdit.Problem {
                JSONEdit.Problem(description: "it can't be read as TOML: \(what) (line \(number + 1))")
            }
            if open.isOpen {
                guard open.take(line) else { throw problem("a string has no end") }
                continue
            }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("[") {
                let isList = line.hasPrefix("[[")
                let inner = line.drop { $0 == "[" }
                guard let end = inner.firstIndex(of: "]") else { throw problem("a table's name has no end") }
                let rest = TOMLEdit.trim(inner[end...].drop { $0 == "]" })
                guard rest.isEmpty || rest.hasPrefix("#") else {
                    throw problem("there is something after a table's name")
                }
                let name = Self.plain(inner[..<end])
                guard !name.isEmpty else { throw problem("a table has no name") }
                tables.append(Table(name: isList ? "[\(name)]" : name))
                continue
            }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw problem("a line is neither a table nor a key with a value")
            }
            let key = Self.plain(line[..<equals])
            if tables.isEmpty {
                rootKeys.append(key)
            } else {
                tables[tables.count - 1].keys.append(key)
                tables[tables.count - 1].lines.append(line)
            }
            guard open.take(String(line[line.index(after: equals)...])) else { throw problem("a string has no end") }
        }
        guard !open.isOpen else { throw JSONEdit.Problem(description: "it can't be read as TOML: a value has no end") }
    }

    private static func plain(_ name: some StringProtocol) -> String {
        name.split(separator: ".").map { part in
            TOMLEdit.trim(part).filter { $0 != "\"" && $0 != "'" }
        }.joined(separator: ".")
    }

    /// A value that continues on the next line: a multi-line string, or open brackets.
    private struct Open {
        private var quotes: String?
        private var brackets = 0

        var isOpen: Bool { quotes != nil || brackets > 0 }

        /// Takes the next line of the value; false if a single-line string does not end on it.
        mutating func take(_ line: String) -> Bool {
            var rest = Substring(line)
            while let first = rest.first {
                if let quotes {
                    if quotes.count == 3 {
                        if rest.hasPrefix(quotes) {
                            self.quotes = nil
                            rest = rest.dropFirst(3)
                            continue
                        }
                    } else if rest.hasPrefix(quotes) {
                        self.quotes = nil
                        rest = rest.dropFirst()
                        continue
                    }
                    let escapes = first == "\\" && quotes.hasPrefix("\"")
                    rest = rest.dropFirst(escapes ? 2 : 1)
                    continue
                }
                if first == "#" { break }
                if let long = ["\"\"\"", "'''"].first(where: { rest.hasPrefix($0) }) {
                    quotes = long
                    rest = rest.dropFirst(3)
                    continue
                }
                if first == "\"" || first == "'" { quotes = String(first) }
                if first == "[" || first == "{" { brackets += 1 }
                if first == "]" || first == "}" { brackets -= 1 }
                rest = rest.dropFirst()
            }
            if let quotes, quotes.count == 1 { return false }
            return brackets >= 0
        }
    }
}
