import AsyncHTTPClient
import Foundation

/// A right that pipectl needs at a forge, and whether it has it.
public struct ForgePermission: Sendable, Equatable, Codable {
    /// As the forge calls it: `checks: write`.
    public var name: String
    /// What it is needed for: `show verdicts`.
    public var purpose: String
    public var isGranted: Bool
    /// What to do where it is lacking.
    public var remedy: String?
}

/// What a forge says about who pipectl is there.
public struct ForgeIdentity: Sendable, Equatable, Codable {
    /// The account that comments are written by: `pipectl[bot]`.
    public var login: String
    public var permissions: [ForgePermission]
}

/// What is known of a thing at a forge before it is shown again.
struct ForgePast: Sendable, Equatable {
    /// What the last call returned.
    var known: String?
    /// Whether an earlier call may have taken effect although its answer never came: then the forge is asked first.
    var isUncertain = false
}

/// Puts states at a forge. One implementation for each kind of API.
///
/// Each call is idempotent: where an earlier call took effect and its answer was lost, the same thing is found, not made
/// a second time.
protocol ForgeService: Sendable {
    /// Who pipectl is at this forge, and which of its permissions are there.
    func identity() async throws -> ForgeIdentity

    /// Shows `state` at its commit.
    ///
    /// - Returns: What the next call for the same workflow and commit is to be given.
    func show(_ state: CheckState, after past: ForgePast) async throws -> String?

    /// Has the change's one comment say `state`; without one, makes it only where it is news.
    ///
    /// - Returns: What the next call for the same change is to be given.
    func show(_ state: CommentState, after past: ForgePast) async throws -> String?
}

extension ForgeSession {
    /// Tries a request that can't take effect, since what it names does not exist: whoever lacks the permission is told so
    /// before the forge looks for it.
    ///
    /// - Returns: False where the forge says that the credential may not do this.
    func mayDo(_ request: ForgeRequest) async throws -> Bool {
        do {
            _ = try await send(request)
            return true
        } catch let error as ForgeError where error.code == .forbidden {
            return false
        } catch let error as ForgeError where [.notFound, .refused].contains(error.code) {
            return true
        }
    }

    /// The number of a comment that no forge has: the largest that an API takes.
    static let noComment = Int64.max

    /// A commit that no repository has.
    static let noCommit = String(repeating: "0", count: 39) + "1"

    /// The service for the session's kind of forge.
    var service: any ForgeService {
        switch address.kind {
        case .github: GitHubService(session: self)
        case .gitlab: GitLabService(session: self)
        case .gitea, .forgejo: GiteaService(session: self)
        }
    }
}

/// Limits of texts at forges.
enum ForgeText {
    /// `text` in at most `limit` bytes of UTF-8, cut at a character, with a note where something is missing. Forges count
    /// characters or UTF-16 units, of which there are never more.
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
