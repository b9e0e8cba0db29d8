import TerminalText

/// The difference of two texts in the format of `diff -u`. The edits of one file are close together, so there is one
/// hunk.
package enum LineDifference {
    private static let context = 3

    /// - Parameter old: Nil if the file is new.
    package static func text(_ path: String, from old: String?, to new: String) -> String {
        let before = old.map(lines) ?? []
        let after = lines(new)
        var start = 0
        while start < before.count, start < after.count, before[start] == after[start] { start += 1 }
        var end = 0
        while end < before.count - start, end < after.count - start,
            before[before.count - 1 - end] == after[after.count - 1 - end]
        { end += 1 }
        let first = max(start - context, 0)
        let tail = min(end, context)
        let (oldCount, newCount) = (before.count - end + tail - first, after.count - end + tail - first)
        let name = TerminalText.name(path, limit: 400)
        var text = "--- \(old == nil ? "/dev/null" : name)\n+++ \(name)\n"
        text += "@@ -\(oldCount == 0 ? 0 : first + 1),\(oldCount) +\(newCount == 0 ? 0 : first + 1),\(newCount) @@\n"
        func add(_ sign: String, _ lines: ArraySlice<Substring>) {
            for line in lines { text += sign + TerminalText.name(String(line), limit: 500) + "\n" }
        }
        add(" ", before[first..<start])
        add("-", before[start..<(before.count - end)])
        add("+", after[start..<(after.count - end)])
        add(" ", before[(before.count - end)..<(before.count - end + tail)])
        return text
    }

    private static func lines(_ text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}
