import Crypto
import Foundation

/// The hidden first line that identifies pipectl's own comment if its number is unknown.
///
/// Nobody can know the code before pipectl wrote it. So the oldest comment with the code is pipectl's own; a copy is
/// newer.
package struct CommentMark: Sendable {
    private let key: SymmetricKey
    package let project: String

    package init(_ credential: ForgeCredential, project: String) {
        key = SymmetricKey(data: SHA256.hash(data: Data(credential.text.utf8)))
        self.project = project
    }

    package func text(_ change: Int) -> String { text("comment \(project) \(change)", change) }

    /// The mark of the answer to a comment at a change.
    package func answer(to comment: Int, change: Int) -> String { text("answer \(project) \(comment)", change) }

    /// The mark of a comment about a subject that no other comment of pipectl is about.
    package func text(_ subject: String, _ change: Int) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(subject.utf8), using: key)
        return "<!-- pipectl \(change) \(code.prefix(12).map { String(format: "%02x", $0) }.joined()) -->"
    }
}
