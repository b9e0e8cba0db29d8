import Foundation

/// A change that is not in the target by ancestry: its own commits, where it forked off, and what it does.
struct ChangeShape {
    var change: ChangeHead
    /// The head's commits that the target lacks, parents before children.
    var own: [Commit]
    /// Where its history meets the target's: one commit, or several after merges in both directions.
    var bases: [TargetHistory.Node]
    /// From the base to the head, one for each of ``bases``.
    var deltas: [TreeDelta]

    /// The own commits that do something: merges of the target are not work.
    var work: [Commit] { own.filter { $0.parents.count < 2 } }
}

/// The change that a landing commit's message names, as forges write it.
enum NamedChange {
    /// "Merge pull request #12 from …", "Title (#12)", or "See merge request group/project!12" in the body.
    static func number(in message: String) -> Int? {
        let lines = message.split(whereSeparator: \.isNewline)
        guard let summary = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else { return nil }
        let merge = "Merge pull request #"
        if summary.hasPrefix(merge) { return Int(summary.dropFirst(merge.count).prefix(while: \.isNumber)) }
        if let open = summary.range(of: "(#", options: .backwards) {
            let digits = summary[open.upperBound...].prefix(while: \.isNumber)
            let isLast =
                summary[digits.endIndex...].hasPrefix(")") && (summary.hasSuffix(")") || summary.contains(") from "))
            if isLast, let number = Int(digits) { return number }
        }
        guard let line = lines.last(where: { $0.hasPrefix("See merge request ") }) else { return nil }
        return line.split(separator: "!").last.flatMap { Int($0) }
    }

    /// The number in a change's name: 12 for "12", "#12", "refs/pull/12/head"; `nil` without exactly one.
    static func number(of name: String) -> Int? {
        let runs = name.split { !$0.isNumber }
        return runs.count == 1 ? Int(runs[0]) : nil
    }
}
