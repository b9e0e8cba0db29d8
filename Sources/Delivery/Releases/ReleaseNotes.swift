import Reports

/// Release notes, as they are first made of the changes that landed.
package enum ReleaseNotes {
    /// The most bytes of notes. Forges take 125,000 characters.
    static let most = 100_000

    /// The changes in Markdown, one line each. What authors wrote can't have an effect there.
    static func text(_ landed: LandedNotes) -> String {
        var (text, more) = ("", landed.older)
        for (place, note) in landed.list.enumerated() {
            let line = line(note)
            guard text.utf8.count + line.utf8.count + 40 <= most else {
                more += landed.list.count - place
                break
            }
            text += line
        }
        if more > 0 { text += "- … and \(more) more\n" }
        return text.isEmpty ? "No changes are known.\n" : text
    }

    private static func line(_ note: LandedNote) -> String {
        // A number is a link at the forge, which is wanted for the change and for the issues that it names.
        let change = Int(note.change).map { "#\($0)" } ?? MarkdownText.code(note.change, limit: 100)
        let issues = note.issues.isEmpty ? "" : ", for " + note.issues.map { "#\($0)" }.joined(separator: ", ")
        // Whoever reported it reads this in TestFlight, too.
        let title = note.fixes.map { "fixed: \(MarkdownText.inline($0, limit: 200))" }
        return "- \(title ?? MarkdownText.inline(note.title, limit: 200)) (\(change), "
            + "\(MarkdownText.inline(note.author, limit: 60))\(issues))\n"
    }

    /// The numbers in text such as "Fixes #12", each once, at most ten.
    ///
    /// - Parameter message: The message of a commit.
    package static func issues(in message: String) -> [Int] {
        var found: [Int] = []
        let pattern = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|for)[:]?\s+#([0-9]{1,9})\b/.ignoresCase()
        for match in message.prefix(20_000).matches(of: pattern) {
            guard let number = Int(match.output.1), !found.contains(number) else { continue }
            found.append(number)
            if found.count == 10 { break }
        }
        return found
    }
}
