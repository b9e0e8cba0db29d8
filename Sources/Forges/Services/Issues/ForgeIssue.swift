package import Foundation

/// An issue as a forge's API has it. Its texts are of strangers.
package struct ForgeIssue: Sendable, Equatable {
    /// The largest text that is taken, in bytes.
    static let mostBytes = 64 << 10

    package var number: Int
    package var title: String
    package var body: String
    package var author: ForgeUser
    package var labels: [String]
    package var isOpen: Bool
    /// Its page, if a browser can open it.
    package var link: String?
    package var updatedAt: Date

    package init(
        number: Int, title: String, body: String, author: ForgeUser, labels: [String], isOpen: Bool, link: String?,
        updatedAt: Date
    ) {
        self.number = number
        self.title = ForgeText.line(title, limit: 500)
        self.body = ForgeText.cut(body, bytes: Self.mostBytes)
        self.author = author
        self.labels = Array(labels.filter { $0.utf8.count <= 255 }.sorted().prefix(100))
        self.isOpen = isOpen
        self.link = link
        self.updatedAt = updatedAt
    }
}

/// Asks a forge about issues, and about what people say of a change beside its comments. One implementation for each kind
/// of API.
protocol ForgeIssueReading: Sendable {
    /// - Returns: Nil where the forge knows no such issue, or it is a change.
    func issue(_ number: Int) async throws -> ForgeIssue?

    /// The issues that were touched since `date`; newest first.
    ///
    /// - Parameter etag: That of the last answer.
    /// - Returns: Nil where nothing is new since that answer.
    func issues(since date: Date, etag: String?) async throws -> (issues: [ForgeIssue], etag: String?)?

    /// The comments of an issue that were made or edited since `date`.
    func issueRemarks(of issue: Int, since date: Date) async throws -> [ForgeRemark]

    /// What reviews of a change say since `date`, where its comments do not have that.
    func reviewRemarks(of change: Int, since date: Date) async throws -> [ForgeRemark]
}
