/// A command's help as it is shown: the parser's text, with the daemon's settings after the command's own options, and
/// with examples.
package struct HelpText {
    /// The title of the section with options that are settings of the daemon.
    package static let daemon = "Settings of the daemon"

    private let sections: [String]

    /// - Parameter text: The parser's output. The result is nil for other messages, such as a completion script.
    package init?(_ text: String) {
        guard text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: pipectl") else { return nil }
        var sections: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isTitle = line.hasSuffix(":") && line.first?.isUppercase == true && !line.contains("  ")
            if isTitle || line.hasPrefix("USAGE: ") { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        self.sections = sections.map { $0.joined(separator: "\n").trimmingEnd }.filter { !$0.isEmpty }
    }

    /// The words of the command that the help is about, without `pipectl`.
    package var command: String {
        let usage = sections.first { $0.hasPrefix("USAGE: ") } ?? ""
        let words = usage.split(whereSeparator: \.isWhitespace).dropFirst(2)
        return words.prefix { $0.first?.isLetter == true }.joined(separator: " ")
    }

    package var shown: String {
        let title = HelpText.daemon.uppercased() + ":"
        var ordered = sections.filter { !$0.hasPrefix(title) } + sections.filter { $0.hasPrefix(title) }
        if let examples = HelpExamples.all[command], !examples.isEmpty {
            // The examples come directly after the usage line, where they are seen first.
            let place = ordered.firstIndex { $0.hasPrefix("USAGE: ") }.map { $0 + 1 } ?? ordered.count
            ordered.insert(HelpText.section(of: examples), at: place)
        }
        return ordered.joined(separator: "\n\n")
    }

    private static func section(of examples: [HelpExamples.Example]) -> String {
        let width = min(examples.filter { !$0.note.isEmpty }.map(\.line.count).max() ?? 0, 60)
        let lines = examples.map { example in
            guard !example.note.isEmpty else { return "  \(example.line)" }
            return
                "  \(example.line)\(String(repeating: " ", count: max(2, width - example.line.count + 2)))\(example.note)"
        }
        return (["EXAMPLES:"] + lines).joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
