import Foundation
import Git

/// The title of what a merge commit brought, whose first line Git and forges write themselves.
enum MergedTitle {
    /// - Parameter only: The only commit that it brought; nil: there are several.
    static func of(_ merge: Commit, bringing only: Commit?) -> String {
        let summary = merge.summary
        guard summary.contains(/^(?:Merge (?:pull request|(?:remote-tracking )?branch(?:es)?|commit|tag) |Merged in )/)
        else {
            return summary
        }
        // Forges write the change's title there.
        let lines = merge.message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let body = lines.filter { !$0.isEmpty }.dropFirst().first
        if let body, !isRemark(body) { return body }
        return only?.summary ?? summary
    }

    /// Whether a line is no title: a trailer, a list that Git made, or the numbers of issues alone.
    private static func isRemark(_ line: String) -> Bool {
        line.contains(/^(?:[#*-] |Conflicts:|See merge request )/)
            || line.contains(
                /^(?:change-id|cc|(?:acked|approved|co-authored|helped|merged|reported|reviewed|signed-off|suggested|tested)-by):/
                    .ignoresCase())
            || line.contains(
                /^(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|for):?\s+#[0-9]+(?:(?:,|and|\s)+#[0-9]+)*\W*$/
                    .ignoresCase())
    }
}
