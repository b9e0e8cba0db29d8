import ForgeConnection
import Foundation

/// What is known about an item at a forge before it is shown again.
struct ForgePast: Sendable, Equatable {
    /// The value that the last call returned.
    var known: String?
    /// Whether an earlier call may have taken effect although no answer arrived. Then the forge is asked first.
    var isUncertain = false
}

/// Shows states at a forge, with one implementation for each kind of API.
///
/// Each call is idempotent: if an earlier call took effect and its answer was lost, the call finds the same item and
/// does not create another.
protocol ForgeService: Sendable {
    var session: ForgeSession { get }

    /// pipectl's account at this forge, and its permissions.
    func identity() async throws -> ForgeIdentity

    /// Shows `state` at its commit.
    ///
    /// - Returns: The value to pass to the next call for the same workflow and commit.
    func show(_ state: CheckState, after past: ForgePast) async throws -> String?

    /// Makes the change's single comment say `state`. Without a comment, it creates one only if `state` is news.
    ///
    /// - Returns: The value to pass to the next call for the same change.
    func show(_ state: CommentState, after past: ForgePast) async throws -> String?

    /// Makes the remarks of a review that were not made yet, and settles those that are mended.
    ///
    /// - Returns: The value to pass to the next call for the same change.
    func show(_ state: ReviewState, after past: ForgePast) async throws -> String?

    /// Sends a SARIF file to the forge's code scanning; does nothing where the forge has none.
    ///
    /// - Returns: The forge's id of it.
    func send(_ scan: ScanState, _ sarif: [UInt8]) async throws -> String?
}

extension ForgeService {
    func send(_ scan: ScanState, _ sarif: [UInt8]) async throws -> String? { nil }
}

extension ForgeSession {
    /// The service for the session's kind of forge.
    var service: any ForgeService & ForgeMergeService {
        switch address.kind {
        case .github: GitHubService(session: self)
        case .gitlab: GitLabService(session: self)
        case .gitea, .forgejo: GiteaService(session: self)
        }
    }
}

/// Cuts texts to the limits of forges.
enum ForgeText {
    /// `text` cut at a character to at most `limit` bytes of UTF-8, with a note if something is missing. Forges count
    /// characters or UTF-16 units, which are never more than the bytes.
    static func cut(_ text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let note = "\n… (cut)"
        var kept = ""
        var size = note.utf8.count
        for character in text {
            size += character.utf8.count
            if size > limit { break }
            kept.append(character)
        }
        return kept + note
    }

    /// `text` on one line of at most `limit` bytes of UTF-8.
    static func line(_ text: String, limit: Int) -> String {
        let flat = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard flat.utf8.count > limit else { return flat }
        var kept = ""
        for character in flat {
            guard kept.utf8.count + character.utf8.count + 3 <= limit else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
