package import Pipeline
package import Results

/// A rule that would have spared a person a correction, as a patch to the repository's instructions for agents.
///
/// It is made of the person's own words. Nothing applies it: a person reads it, and commits it or not.
package struct RuleProposal: Sendable, Equatable {
    /// What a person corrected.
    package enum Correction: Sendable, Equatable {
        /// A remark on a plan, on the work, or on the change.
        case remark(String)
        /// A comment on a line of the change.
        case comment(String, file: String?)
        /// A commit by hand on top of the change, with its message.
        case commit(message: String)
    }

    /// The new rules in words, as they stand in the list.
    package var rules: [String]
    /// Lines for `rules` of the `WorkflowSet` in `workflows/`, where a machine can check the rule.
    package var declarations: [String]
    /// The change to the file with the instructions, as `git apply` takes it.
    package var patch: String
    /// The file that it changes or adds.
    package var path: String

    package enum Limit {
        static let words = 300
        static let rules = 20
        static let leastLetters = 12
    }

    /// The heading of the list of rules.
    package static let heading = "Rules"

    /// What the corrections propose; nil if they say nothing new.
    ///
    /// - Parameters:
    ///   - corrections: In the order in which they were made.
    ///   - content: The present text of the file; nil: there is none.
    ///   - path: The file with the instructions.
    ///   - known: The rules that are checked already.
    package static func make(
        from corrections: [Correction], in content: String?, at path: String = "AGENTS.md", known: [Rule] = []
    ) -> RuleProposal? {
        var seen = Set((content ?? "").feedLines.map { plain($0) })
        seen.formUnion(known.map { plain($0.text) })
        var rules: [String] = []
        var declarations: [String] = []
        for correction in corrections where rules.count < Limit.rules {
            guard let rule = words(of: correction), seen.insert(plain(rule)).inserted else { continue }
            rules.append(rule)
            if let declared = DeclaredRule(rule, path: path) { declarations.append(declared.line) }
        }
        guard !rules.isEmpty else { return nil }
        let patch = ListPatch(content: content, path: path, heading: heading).adding(rules.map { "- \($0)" })
        return RuleProposal(rules: rules, declarations: declarations, patch: patch, path: path)
    }

    /// The corrections in the history of a task: what people said to plans, to the work and to the change.
    ///
    /// A remark before the first plan is part of the task, and corrects nobody.
    package static func corrections(in events: [TaskEvent]) -> [Correction] {
        var hasBegun = false
        return events.compactMap { event in
            switch event.what {
            case .planned, .made:
                hasBegun = true
                return nil
            case .remark(let text): return hasBegun ? .remark(text) : nil
            case .planRefused(_, let reason?), .refused(let reason?): return hasBegun ? .remark(reason) : nil
            default: return nil
            }
        }
    }

    /// One line of the correction's own words; nil for one that is no rule: a question, a thank-you, a merge.
    private static func words(of correction: Correction) -> String? {
        let text: String
        var place = ""
        switch correction {
        case .remark(let words): text = words
        case .comment(let words, let file):
            text = words
            // The folder tells what a comment on a line is about, if its words don't.
            let folder = file.map { $0.split(separator: "/").dropLast().joined(separator: "/") } ?? ""
            if !folder.isEmpty, !words.contains(folder) { place = " (in \(folder)/)" }
        case .commit(let message):
            let subject = message.feedLines.first ?? ""
            guard !["merge ", "revert ", "fixup!", "squash!"].contains(where: subject.lowercased().hasPrefix) else {
                return nil
            }
            text = subject
        }
        let paragraph = text.feedLines
            .drop { $0.allSatisfy(\.isWhitespace) }
            // What is quoted was said by somebody else.
            .filter { !$0.hasPrefix(">") && !$0.hasPrefix("/") }
            .prefix { !$0.allSatisfy(\.isWhitespace) }
            .joined(separator: " ")
        var line = paragraph.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            case .format, .surrogate, .privateUse: break
            default: line.unicodeScalars.append(scalar)
            }
        }
        line = line.split(separator: " ").joined(separator: " ")
        while let first = line.first, "-*#".contains(first) { line = String(line.dropFirst().drop { $0 == " " }) }
        if line.count > Limit.words { line = String(line.prefix(Limit.words)) + "…" }
        guard line.count(where: \.isLetter) >= Limit.leastLetters, !line.hasSuffix("?"), !isThanks(line) else {
            return nil
        }
        return line + place
    }

    private static func isThanks(_ line: String) -> Bool {
        let words = line.lowercased().split { !$0.isLetter }.prefix(3)
        let first = words.first ?? ""
        return ["lgtm", "thanks", "thank", "great", "nice", "perfect", "approved"].contains(first)
            || words.joined(separator: " ") == "looks good to" || words.prefix(2).joined(separator: " ") == "looks good"
    }

    /// Without case, marks and list signs.
    private static func plain(_ text: some StringProtocol) -> String {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }
}

/// A rule in words that a machine can check: it forbids some code, in a folder or in files that it names.
///
/// ``Don't use `URLSession` in `Views/` `` becomes `Rule("…", forbids: "\\bURLSession\\b", in: "**/Views/**", …)`.
struct DeclaredRule {
    let line: String

    init?(_ text: String, path: String) {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        // Pieces with odd numbers are code: an even number of backquotes makes an odd number of pieces.
        guard parts.count >= 5, parts.count % 2 == 1, Self.forbids(parts[0]) else { return nil }
        let between = parts[2].lowercased().split { !$0.isLetter }
        guard between.first == "in" || between.last == "in", between.count <= 4,
            let glob = Self.glob(parts[3]), !parts[1].isEmpty
        else { return nil }
        let pattern = Self.pattern(parts[1])
        let rule = Rule(text, forbids: pattern, in: glob, says: path)
        guard rule.problems.isEmpty else { return nil }
        line =
            "Rule(\(Self.quoted(text)), forbids: \(Self.quoted(pattern)), in: \(Self.quoted(glob)), says: \(Self.quoted(path)))"
    }

    private static func forbids(_ words: Substring) -> Bool {
        let words = words.lowercased().replacing("’", with: "'").split { !$0.isLetter && $0 != "'" }
        let forbidding: Set<Substring> = [
            "no", "not", "never", "don't", "mustn't", "can't", "cannot", "shouldn't", "avoid", "without", "forbid",
            "forbidden",
            "remove", "drop",
        ]
        return words.contains { forbidding.contains($0) }
    }

    /// `Views/` may be anywhere, `Sources/App/Views/` begins at the root.
    private static func glob(_ text: Substring) -> String? {
        let isFolder = text.hasSuffix("/")
        guard text.contains("/") || text.contains("."), !text.hasPrefix("/"), !text.contains(" ") else { return nil }
        let path = isFolder ? text.dropLast() : text
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
        let glob = (parts.count == 1 ? "**/\(path)" : String(path)) + (isFolder ? "/**" : "")
        return (try? Glob(glob)) == nil ? nil : glob
    }

    /// The code as it is, as a whole word where it begins or ends like one.
    private static func pattern(_ code: Substring) -> String {
        var pattern = code.unicodeScalars.reduce(into: "") { pattern, scalar in
            if "\\^$.|?*+()[]{}".unicodeScalars.contains(scalar) { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        func isWord(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
        }
        if isWord(code.first) { pattern = "\\b" + pattern }
        if isWord(code.last) { pattern += "\\b" }
        return pattern
    }

    /// A string literal of Swift.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// Adds items to a list below a heading of a file in Markdown, as a patch.
struct ListPatch {
    let content: String?
    let path: String
    let heading: String

    private static let context = 3

    /// The patch that adds `items` at the end of the list; without the heading, at the end of the file.
    func adding(_ items: [String]) -> String {
        let header = "diff --git a/\(path) b/\(path)\n"
        guard let content, !content.isEmpty else {
            let lines = ["# Instructions for agents", "", "## \(heading)", ""] + items
            let isNew = content == nil
            return header + (isNew ? "new file mode 100644\n--- /dev/null\n" : "--- a/\(path)\n") + "+++ b/\(path)\n"
                + "@@ -0,0 +1,\(lines.count) @@\n" + lines.map { "+\($0)\n" }.joined()
        }
        var lines = content.feedLines
        let endsWithLine = lines.last == ""
        if endsWithLine { lines.removeLast() }
        // Lines that end as those of the file do.
        let ending = lines.first?.hasSuffix("\r") == true ? "\r" : ""
        var (place, new) = spot(in: lines)
        new += items
        new = new.map { $0 + ending }
        let first = max(0, place - Self.context)
        let after = lines[place...].prefix(Self.context)
        var text = ""
        var isBare = false
        for (number, line) in lines[first..<place].enumerated() {
            // The last line has no line feed: with new lines after it, it gets one.
            if !endsWithLine, first + number == lines.count - 1 {
                text += "-\(line)\n\\ No newline at end of file\n+\(line)\n"
                isBare = true
            } else {
                text += " \(line)\n"
            }
        }
        text += new.map { "+\($0)\n" }.joined()
        text += after.map { " \($0)\n" }.joined()
        if !endsWithLine, !isBare, place + after.count == lines.count { text += "\\ No newline at end of file\n" }
        let old = place - first + after.count
        return header + "--- a/\(path)\n+++ b/\(path)\n"
            + "@@ -\(first + 1),\(old) +\(first + 1),\(old + new.count) @@\n" + text
    }

    /// The line before which the items go, and what goes before them.
    private func spot(in lines: [String]) -> (Int, [String]) {
        guard let start = headings(lines).first(where: { $0.text.lowercased() == heading.lowercased() }) else {
            let isSpaced = lines.last.map { $0.allSatisfy(\.isWhitespace) } ?? true
            return (lines.count, (isSpaced ? [] : [""]) + ["## \(heading)", ""])
        }
        let end = headings(lines).first { $0.line > start.line && $0.level <= start.level }?.line ?? lines.count
        // Other headings inside, such as "### Swift", begin lists of their own.
        let inner = headings(lines).first { $0.line > start.line && $0.line < end }?.line ?? end
        var place = inner
        while place > start.line + 1, lines[place - 1].allSatisfy(\.isWhitespace) { place -= 1 }
        let isList = place > start.line + 1
        return (place, isList ? [] : [""])
    }

    /// The headings outside of code.
    private func headings(_ lines: [String]) -> [(line: Int, level: Int, text: String)] {
        var isCode = false
        var found: [(line: Int, level: Int, text: String)] = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") || line.hasPrefix("~~~") { isCode.toggle() }
            let level = line.prefix { $0 == "#" }.count
            guard !isCode, (1...6).contains(level), line.dropFirst(level).first == " " else { continue }
            let text = line.dropFirst(level).drop { $0 == " " }
            found.append((index, level, String(text.reversed().drop { $0.isWhitespace || $0 == "#" }.reversed())))
        }
        return found
    }
}
