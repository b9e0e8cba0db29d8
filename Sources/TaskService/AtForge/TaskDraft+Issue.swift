import Foundation
package import Forges
package import Results
import TerminalText

extension TaskDraft {
    /// What is to be done as an issue says it now. Its words are a stranger's; those of whoever asks come first.
    ///
    /// - Parameters:
    ///   - draft: What was asked for besides: its files, a text, a title.
    ///   - who: Who asks.
    package init(_ issue: ForgeIssue, adding draft: TaskDraft, by who: String) {
        self = draft
        var title = draft.title ?? TerminalText.name(issue.title, limit: 150)
        while title.utf8.count > TaskDraft.longestTitle { title.removeLast() }
        self.title = title.isEmpty ? "issue \(issue.number)" : title
        let added = draft.text.allSatisfy(\.isWhitespace) ? "" : "\(who) adds:\n\n\(draft.text)\n\n"
        let text = added.isEmpty ? issue.body : "\(added)Issue \(issue.number), \"\(issue.title)\":\n\n\(issue.body)"
        // The cut may end within a character, which takes a few bytes more then.
        self.text = String(decoding: text.utf8.prefix(TaskDraft.longestText - 8), as: UTF8.self)
        // A crash stays one: its report says more than its issue.
        if draft.crash == nil { source = .issue(number: issue.number) }
        reporter = draft.reporter ?? who
        key = Self.key(ofIssue: issue.number)
        self.issue = issue.number
    }

    /// What makes one task of all that is asked about an issue.
    static func key(ofIssue number: Int) -> String { "issue \(number)" }
}
