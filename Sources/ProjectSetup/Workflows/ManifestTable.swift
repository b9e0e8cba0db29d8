/// One table of a TOML or INI file. It reads keys and plain values line by line.
struct ManifestTable {
    private let lines: [Substring]

    init(_ name: String, in text: String) {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = all.firstIndex(where: { $0.trimmed == "[\(name)]" }) else {
            lines = []
            return
        }
        lines = Array(all[(start + 1)...].prefix { !$0.hasPrefix("[") })
    }

    /// The names before an equals sign at the start of a line.
    var keys: [String] {
        lines.compactMap { line in
            line.prefixMatch(of: /["']?([A-Za-z0-9._-]+)["']?\s*=/).map { String($0.1) }
        }
    }

    /// The strings of a list, which may span several lines: `test = ["pytest", "mock"]`.
    func strings(of key: String) -> [String] {
        guard let start = lines.firstIndex(where: { isKey(key, $0) }) else { return [] }
        let text = lines[start...].joined(separator: "\n")
        guard let open = text.firstIndex(of: "["), let close = end(of: text[open...]) else { return [] }
        return text[open..<close].matches(of: /"([^"\n]*)"|'([^'\n]*)'/).map { String($0.1 ?? $0.2 ?? "") }
    }

    /// The values of an INI key, on its line and on the indented lines below.
    func lines(of key: String) -> [String] {
        guard let start = lines.firstIndex(where: { isKey(key, $0) }) else { return [] }
        let first = lines[start].drop { $0 != "=" }.dropFirst()
        let rest = lines[(start + 1)...].prefix { $0.trimmed.isEmpty || $0.first == " " || $0.first == "\t" }
        return ([first] + rest).map { String($0.trimmed) }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private func isKey(_ key: String, _ line: Substring) -> Bool {
        line.prefix { $0 != "=" }.trimmed.filter { $0 != "\"" && $0 != "'" } == key && line.contains("=")
    }

    /// The bracket that closes the first one. Brackets inside strings, as in extras, do not count.
    private func end(of list: Substring) -> Substring.Index? {
        var quote: Character?
        var depth = 0
        for index in list.indices {
            let character = list[index]
            if let open = quote {
                if character == open { quote = nil }
                continue
            }
            switch character {
            case "\"", "'": quote = character
            case "[": depth += 1
            case "]":
                depth -= 1
                if depth == 0 { return index }
            default: continue
            }
        }
        return nil
    }
}

extension Substring {
    /// Without spaces and tabs at either end.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text = text.dropLast() }
        return text
    }
}
