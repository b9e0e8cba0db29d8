import ForgeConnection
import Foundation
import Results
import Store

/// A change as a forge's API has it.
struct ForgeChange: Sendable, Equatable {
    var number: Int
    var author: ForgeUser
    /// All but who pushed.
    var facts: ChangeFacts
    /// Whether its author has had a change merged; nil where the forge does not say.
    var hasContributed: Bool?
    var updatedAt: Date
}

/// A comment as a forge's API has it, which may be a command.
struct ForgeRemark: Sendable, Equatable {
    /// Where it stands. Each place counts its comments on its own.
    enum Place: String, Sendable {
        case comment
        /// At a line of a file.
        case line
        /// The text of a review as a whole.
        case review
    }

    var id: Int
    /// The number of the change or the issue.
    var change: Int
    var body: String
    var author: ForgeUser
    var isBot: Bool
    var isEdited: Bool
    var createdAt: Date
    var place = Place.comment

    /// The same for this comment, and no other.
    var key: String { "\(place.rawValue) \(id)" }

    /// What somebody says to a line of a file.
    static func text(_ body: String, path: String?, line: Int?) -> String {
        guard let path else { return body }
        return "\(ForgeText.line(path, limit: 500))\(line.map { ":\($0)" } ?? ""): \(body)"
    }
}

/// Asks a forge about changes, comments and people. One implementation for each kind of API.
protocol ForgeReading: Sendable {
    /// - Returns: Nil where the forge knows no such change.
    func change(_ number: Int) async throws -> ForgeChange?

    /// The changes that were touched since `date`, all that are open without one; newest first.
    ///
    /// - Parameter etag: That of the last answer.
    /// - Returns: Nil where nothing is new since that answer.
    func changes(since date: Date?, etag: String?) async throws -> (changes: [ForgeChange], etag: String?)?

    /// The comments of a change that were made or edited since `date`.
    func remarks(of change: Int, since date: Date) async throws -> [ForgeRemark]

    /// Whether somebody may push to the repository.
    func mayWrite(_ user: ForgeUser) async throws -> Bool
}

extension ForgeSession {
    /// Reads from the session's kind of forge.
    var reader: any ForgeReading & ForgeIssueReading {
        switch address.kind {
        case .github: GitHubReader(session: self)
        case .gitlab: GitLabReader(session: self)
        case .gitea, .forgejo: GiteaReader(session: self)
        }
    }

    /// All pages of a list until `isEnough`, at most 30; nil where the first page is the one that `etag` names.
    func conditionalPages<Value: Decodable & Sendable>(
        _ path: String, _ query: [String: String], etag: String?, of type: Value.Type,
        until isEnough: (Value) -> Bool
    ) async throws -> (items: [Value], etag: String?)? {
        let isGitea = address.kind == .gitea || address.kind == .forgejo
        // Gitea's own limit is 50 unless its administrator allows more.
        let (size, count) = (isGitea ? "limit" : "per_page", isGitea ? 50 : 100)
        var all: [Value] = []
        var first: String?
        for page in 1...30 {
            var request = ForgeRequest.get(path, query)
            request.query[size] = "\(count)"
            request.query["page"] = "\(page)"
            if page == 1 { request.etag = etag }
            let answer = try await send(request)
            if answer.status == 304 { return nil }
            if page == 1 { first = answer.headers["etag"] }
            let found = try answer.decode([Value].self)
            all += found
            if found.count < count || found.contains(where: isEnough) { break }
        }
        return (all, first)
    }

    /// The answer to a question about something that may not be there; nil where it is not.
    func find(_ request: ForgeRequest) async throws -> ForgeAnswer? {
        do {
            return try await send(request)
        } catch let error as ForgeError where error.code == .notFound {
            return nil
        }
    }
}

/// Times as forges write them: `2026-11-24T16:44:02Z`, some with parts of a second or an offset.
enum ForgeTime {
    static func date(_ text: String) throws -> Date {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) {
            return date
        }
        throw ForgeError(.badAnswer, "the forge's answer has a time that can't be read")
    }

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension ChangeFacts {
    /// Facts of a change with texts as long as anybody needs them, whatever the forge sent.
    static func bounded(
        title: String, author: String, head: String, target: String, isOpen: Bool, isDraft: Bool, labels: [String],
        headRepository: String?
    ) throws -> ChangeFacts {
        guard [40, 64].contains(head.utf8.count),
            head.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            !target.isEmpty, target.utf8.count <= 1_024
        else { throw ForgeError(.badAnswer, "the forge's answer names no commit or branch of the change") }
        return ChangeFacts(
            title: title.bounded(500), author: author.bounded(255), head: head, target: target,
            isOpen: isOpen, isDraft: isDraft,
            labels: Array(labels.filter { $0.utf8.count <= 255 }.sorted().prefix(100)),
            headRepository: headRepository.map { $0.bounded(500) })
    }
}

extension String {
    /// The first scalars: a single character may have any number of them.
    fileprivate func bounded(_ count: Int) -> String { String(unicodeScalars.prefix(count)) }
}
