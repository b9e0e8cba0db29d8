import ForgeConnection
import Foundation
import Reports
package import Results
package import Store

/// What the single comment of a task at its issue says: the complete newest state.
package struct IssueNote: Sendable, Equatable, Codable {
    package var issue: Int
    package var task: TaskID
    /// Markdown. Foreign text in it is escaped.
    package var body: String
    /// Whether it is worth a new comment where a person deleted the one before.
    package var isNews: Bool

    package init(issue: Int, task: TaskID, body: String, isNews: Bool) {
        (self.issue, self.task, self.body, self.isNews) = (issue, task, body, isNews)
    }

    /// Puts it into the outbox of the repository, in place of an earlier state. The same state twice changes nothing; where
    /// no forge is connected, nothing happens.
    package func want(in repository: String, _ index: Store.Index) async throws {
        let wanted = ForgeWanted.note(self)
        try await index.wantForgeItems([(wanted.thing, try wanted.json())], of: repository, run: nil, in: nil)
    }
}

extension ForgeSession {
    /// Makes the single comment of a task at its issue say `note`.
    func show(_ note: IssueNote, after past: ForgePast) async throws -> String? {
        let mark = mark.text("task \(note.task) at issue \(mark.project) \(note.issue)", note.issue)
        let isGitLab = address.kind == .gitlab
        let root =
            isGitLab
            ? "/projects/\(ForgeRequest.part(address.project))/issues/\(note.issue)"
            : "/repos/\(address.project)/issues"
        let list = isGitLab ? "\(root)/notes" : "\(root)/\(note.issue)/comments"
        return try await show(
            note.body, marked: mark, isNews: note.isNews, after: past,
            at: CommentPaths(
                list: list, create: list, update: isGitLab ? list : "\(root)/comments",
                updateMethod: isGitLab ? .put : .patch, limit: isGitLab ? 900_000 : 60_000))
    }
}
