import Results
import Pipeline

/// A workflow's rule for a tool's lines, prepared for matching.
///
/// The time is bounded whatever the lines contain: at most 1,000 bytes of a line are examined, no position is tried
/// twice for the same part of a template, and after ``budget`` tries in one text nothing more is matched.
struct RuleMatcher {
    enum Part: Equatable {
        case text([UInt8])
        case space
        case field(String)
    }

    let rule: FindingRule
    private let templates: [[Part]]
    /// The fields that the lines so far have given, and the index of the next template.
    private var given: [String: String] = [:]
    private var next = 0
    private var budget = 3_000_000

    init(rule: FindingRule) {
        self.rule = rule
        templates = rule.templates.map(Self.parts)
    }

    /// Takes a line, and returns the finding that it completes.
    mutating func take(_ line: Substring) -> Finding? {
        guard !templates.isEmpty else { return nil }
        let isLast = next == templates.count - 1
        if let fields = Self.match(templates[next], line, &budget) {
            if isLast { return finding(given.merging(fields) { $1 }) }
            given = next == 0 ? fields : given.merging(fields) { $1 }
            next += 1
            return nil
        }
        guard next > 0 else { return nil }
        // The last template may match any number of lines. A line that does not match starts over, perhaps as the first
        // one.
        (next, given) = (0, [:])
        return take(line)
    }

    private func finding(_ fields: [String: String]) -> Finding? {
        guard let message = fields["message"] ?? fields["rule"], !message.isEmpty else { return nil }
        let word = (fields["severity"] ?? rule.severity).lowercased()
        let severity: Finding.Severity =
            word.hasPrefix("e") || word.hasPrefix("f") ? .error : word.hasPrefix("w") ? .warning : .note
        return Finding(
            rule: fields["rule"].map { $0.isEmpty ? rule.name : $0 } ?? rule.name, severity: severity,
            message: message, file: fields["file"], line: fields["line"].flatMap(Int.init),
            column: fields["column"].flatMap(Int.init))
    }

    /// The template's parts. An unknown field is literal text.
    static func parts(_ template: String) -> [Part] {
        var parts: [Part] = []
        var text: [UInt8] = []
        func known(_ name: Substring) -> Bool { FindingRule.fields.contains(String(name)) }
        func close() {
            if !text.isEmpty { parts.append(.text(text)) }
            text = []
        }
        var rest = template[...]
        while let character = rest.first {
            if character == "{", let end = rest.firstIndex(of: "}"), known(rest[..<end].dropFirst()) {
                close()
                parts.append(.field(String(rest[..<end].dropFirst())))
                rest = rest[rest.index(after: end)...]
                continue
            }
            if character == " " {
                close()
                if parts.last != .space { parts.append(.space) }
            } else {
                text += Array(String(character).utf8)
            }
            rest = rest.dropFirst()
        }
        close()
        return parts
    }

    /// The fields of a line that the whole template matches; nil if it does not match.
    static func match(_ parts: [Part], _ line: Substring, _ budget: inout Int) -> [String: String]? {
        let bytes = Array(line.utf8.prefix(1_000))
        guard hasTexts(of: parts, bytes) else { return nil }
        // Pairs of a position and a part that can't match, so that none is tried twice.
        var dead: Set<Int> = []
        var fields: [String: String] = [:]
        var left = budget
        defer { budget = left }
        func walk(_ part: Int, _ place: Int) -> Bool {
            guard part < parts.count else { return place == bytes.count }
            let state = part * (bytes.count + 1) + place
            left -= 1
            guard left > 0, !dead.contains(state) else { return false }
            for end in ends(of: parts[part], at: place, in: bytes, isLast: part == parts.count - 1) {
                if walk(part + 1, end) {
                    if case .field(let name) = parts[part], name != "*" {
                        fields[name] = trimmed(bytes[place..<end])
                    }
                    return true
                }
            }
            dead.insert(state)
            return false
        }
        return walk(0, 0) ? fields : nil
    }

    /// Whether the template's literal text occurs in order. Most lines of a log are rejected by this alone.
    private static func hasTexts(of parts: [Part], _ bytes: [UInt8]) -> Bool {
        var start = 0
        for case .text(let text) in parts {
            var place = start
            while place + text.count <= bytes.count, !bytes[place...].starts(with: text) { place += 1 }
            guard place + text.count <= bytes.count else { return false }
            start = place + text.count
        }
        return true
    }

    /// The positions at which a part that begins at `place` may end.
    private static func ends(of part: Part, at place: Int, in bytes: [UInt8], isLast: Bool) -> [Int] {
        func run(_ isMember: (UInt8) -> Bool) -> Int { bytes[place...].prefix(while: isMember).count }
        switch part {
        case .text(let text): return bytes[place...].starts(with: text) ? [place + text.count] : []
        case .space:
            let count = run { $0 == 0x20 || $0 == 0x09 }
            return count > 0 || place == bytes.count || place == 0 ? [place + count] : []
        case .field("line"), .field("column"):
            let count = run { (0x30...0x39).contains($0) }
            return (1...9).contains(count) ? [place + count] : []
        case .field("severity"):
            let count = run { (0x41...0x5A).contains($0 & ~0x20) }
            let word = String(decoding: bytes[place..<(place + count)], as: UTF8.self).lowercased()
            return FindingRule.severities.contains(word) ? [place + count] : []
        case .field("*"): return isLast ? [bytes.count] : Array(place...bytes.count)
        case .field:
            guard place < bytes.count else { return [] }
            return isLast ? [bytes.count] : Array((place + 1)...bytes.count)
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        var part = bytes
        while part.last == 0x20 || part.last == 0x0D { part.removeLast() }
        while part.first == 0x20 { part.removeFirst() }
        return String(decoding: part, as: UTF8.self)
    }
}

extension FindingRule {
    static let fields: Set = ["file", "line", "column", "severity", "rule", "message", "*"]
    static let severities: Set = [
        "error", "err", "fatal", "failure", "warning", "warn", "note", "info", "information", "hint", "e", "f", "w",
        "n",
        "i",
    ]
}
