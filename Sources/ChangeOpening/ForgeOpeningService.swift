package import ForgeConnection
import Foundation
import Reports
import TerminalText

/// The requests with which a change is opened at one kind of forge, and its text is changed.
package protocol ForgeOpeningService: Sendable {
    /// The largest text of a change, in bytes.
    static var bodyLimit: Int { get }

    /// All changes of the branch into its target, whatever became of them.
    func changes(of wanted: ForgeOpening) async throws -> [ForgeOpened]

    /// Opens a change; the forge refuses a second one that is open.
    func make(_ wanted: ForgeOpening) async throws -> ForgeOpened

    /// Replaces the title and the text of a change.
    func retell(_ number: Int, _ wanted: ForgeOpening) async throws
}

extension ForgeOpening {
    /// Cuts title and text to what a forge takes.
    package mutating func fit(_ bodyLimit: Int) {
        let line = title.split(whereSeparator: \.isNewline).joined(separator: " ")
        title = TerminalText.name(line, limit: 200)
        body = MarkdownText.cut(body, bytes: bodyLimit)
    }
}

extension ForgeOpeningService {
    /// The change of the branch: the one that is open, else the newest.
    package func found(_ wanted: ForgeOpening) async throws -> ForgeOpened? {
        try await changes(of: wanted).max {
            ($0.state == .open ? 1 : 0, $0.number) < ($1.state == .open ? 1 : 0, $1.number)
        }
    }

    /// Opens the change of a branch once, however often it is called, and makes it say what is wanted.
    ///
    /// One that was merged or closed stays as it is: a person decided.
    package func open(_ wanted: ForgeOpening) async throws -> ForgeOpened {
        var wanted = wanted
        wanted.fit(Self.bodyLimit)
        if let known = try await found(wanted) { return try await told(known, wanted) }
        do {
            return try await make(wanted)
        } catch let error as ForgeError where error.code == .refused {
            // Another process, or a request whose answer was lost, may have opened it meanwhile.
            guard let known = try await found(wanted) else { throw error }
            return try await told(known, wanted)
        }
    }

    private func told(_ known: ForgeOpened, _ wanted: ForgeOpening) async throws -> ForgeOpened {
        guard known.state == .open, known.title != wanted.title || Self.isOther(known.body, wanted.body) else {
            return known
        }
        try await retell(known.number, wanted)
        return known
    }

    /// Forges keep line ends in their own way.
    private static func isOther(_ one: String, _ two: String) -> Bool {
        one.split(whereSeparator: \.isNewline) != two.split(whereSeparator: \.isNewline)
    }
}

extension ForgeSession {
    /// The opening service for the session's kind of forge.
    package var openingService: any ForgeOpeningService {
        switch address.kind {
        case .github: GitHubOpening(session: self)
        case .gitlab: GitLabOpening(session: self)
        case .gitea, .forgejo: GiteaOpening(session: self)
        }
    }

    /// An address that a browser can open, as the forge names it.
    package static func link(_ text: String?) -> String? {
        guard let text, text.utf8.count <= 1_000, text.hasPrefix("https://") || text.hasPrefix("http://"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#"<>"\^`{|}"#.utf8.contains($0) })
        else { return nil }
        return text
    }
}

/// Source: https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
struct GitHubOpening: ForgeOpeningService {
    let session: ForgeSession
    private var root: String { "/repos/\(session.address.project)" }
    static var bodyLimit: Int { 60_000 }

    private struct Pull: Decodable {
        struct Side: Decodable {
            struct Repository: Decodable { var id: Int }
            var ref: String
            var sha: String
            var repo: Repository?
        }
        var number: Int
        var htmlUrl: String?
        var title: String
        var body: String?
        var state: String
        var mergedAt: String?
        var head: Side
        var base: Side

        var opened: ForgeOpened {
            ForgeOpened(
                number: number, link: ForgeSession.link(htmlUrl), head: head.sha,
                state: state == "open" ? .open : mergedAt == nil ? .closed : .merged, title: title, body: body ?? "")
        }
    }

    func changes(of wanted: ForgeOpening) async throws -> [ForgeOpened] {
        let owner = session.address.project.split(separator: "/").first.map(String.init) ?? ""
        let query = ["head": "\(owner):\(wanted.branch)", "base": wanted.target, "state": "all"]
        return try await session.pages("\(root)/pulls", query, of: Pull.self, most: 2)
            .filter {
                $0.head.ref == wanted.branch && $0.base.ref == wanted.target && $0.head.repo?.id == $0.base.repo?.id
            }
            .map(\.opened)
    }

    func make(_ wanted: ForgeOpening) async throws -> ForgeOpened {
        struct Body: Encodable { var title: String, head: String, base: String, body: String }
        let body = Body(title: wanted.title, head: wanted.branch, base: wanted.target, body: wanted.body)
        return try await session.send(.send(.post, "\(root)/pulls", body)).decode(Pull.self).opened
    }

    func retell(_ number: Int, _ wanted: ForgeOpening) async throws {
        struct Body: Encodable { var title: String, body: String }
        _ = try await session.send(
            .send(.patch, "\(root)/pulls/\(number)", Body(title: wanted.title, body: wanted.body)))
    }
}

/// Source: https://docs.gitlab.com/api/merge_requests/#create-mr
struct GitLabOpening: ForgeOpeningService {
    let session: ForgeSession
    private var root: String { "/projects/\(ForgeRequest.part(session.address.project))" }
    static var bodyLimit: Int { 900_000 }

    private struct MergeRequest: Decodable {
        var iid: Int
        var webUrl: String?
        var title: String
        var description: String?
        var state: String
        var sha: String?
        var sourceBranch: String
        var targetBranch: String
        var sourceProjectId: Int?
        var targetProjectId: Int?

        var opened: ForgeOpened {
            ForgeOpened(
                number: iid, link: ForgeSession.link(webUrl), head: sha ?? "",
                state: state == "merged" ? .merged : state == "closed" ? .closed : .open, title: title,
                body: description ?? "")
        }
    }

    func changes(of wanted: ForgeOpening) async throws -> [ForgeOpened] {
        let query = [
            "source_branch": wanted.branch, "target_branch": wanted.target, "state": "all", "scope": "all",
        ]
        return try await session.pages("\(root)/merge_requests", query, of: MergeRequest.self, most: 2)
            .filter {
                $0.sourceBranch == wanted.branch && $0.targetBranch == wanted.target
                    && $0.sourceProjectId == $0.targetProjectId
            }
            .map(\.opened)
    }

    func make(_ wanted: ForgeOpening) async throws -> ForgeOpened {
        struct Body: Encodable { var title: String, sourceBranch: String, targetBranch: String, description: String }
        let body = Body(
            title: wanted.title, sourceBranch: wanted.branch, targetBranch: wanted.target, description: wanted.body)
        return try await session.send(.send(.post, "\(root)/merge_requests", body)).decode(MergeRequest.self).opened
    }

    func retell(_ number: Int, _ wanted: ForgeOpening) async throws {
        struct Body: Encodable { var title: String, description: String }
        _ = try await session.send(
            .send(.put, "\(root)/merge_requests/\(number)", Body(title: wanted.title, description: wanted.body)))
    }
}

/// Source: https://docs.gitea.com/api/ (repoCreatePullRequest)
struct GiteaOpening: ForgeOpeningService {
    let session: ForgeSession
    private var root: String { "/repos/\(session.address.project)" }
    static var bodyLimit: Int { 60_000 }
    /// Pages of a list that are read, of 50 changes each.
    private static let mostPages = 30

    private struct Pull: Decodable {
        struct Side: Decodable {
            var ref: String
            var sha: String
            var repoId: Int
        }
        var number: Int
        var htmlUrl: String?
        var title: String
        var body: String?
        var state: String
        var merged: Bool?
        var head: Side
        var base: Side
        var updatedAt: String

        func isOlder(than date: Date) -> Bool {
            (try? Date(updatedAt, strategy: .iso8601)).map { $0 < date } ?? false
        }

        var opened: ForgeOpened {
            ForgeOpened(
                number: number, link: ForgeSession.link(htmlUrl), head: head.sha,
                state: state == "open" ? .open : merged == true ? .merged : .closed, title: title, body: body ?? "")
        }
    }

    func changes(of wanted: ForgeOpening) async throws -> [ForgeOpened] {
        func isWanted(_ pull: Pull) -> Bool {
            pull.head.ref == wanted.branch && pull.base.ref == wanted.target && pull.head.repoId == pull.base.repoId
        }
        // No filter names a branch. The clocks of both machines may differ by some minutes.
        let since = wanted.since.addingTimeInterval(-3_600)
        var all: [Pull] = []
        for page in 1...Self.mostPages {
            let query = ["state": "all", "sort": "recentupdate", "limit": "50", "page": "\(page)"]
            let found = try await session.send(.get("\(root)/pulls", query)).decode([Pull].self)
            all += found
            let isEnough = found.contains { isWanted($0) || $0.isOlder(than: since) }
            if found.count < 50 || isEnough { break }
        }
        return all.filter(isWanted).map(\.opened)
    }

    func make(_ wanted: ForgeOpening) async throws -> ForgeOpened {
        struct Body: Encodable { var title: String, head: String, base: String, body: String }
        let body = Body(title: wanted.title, head: wanted.branch, base: wanted.target, body: wanted.body)
        return try await session.send(.send(.post, "\(root)/pulls", body)).decode(Pull.self).opened
    }

    func retell(_ number: Int, _ wanted: ForgeOpening) async throws {
        struct Body: Encodable { var title: String, body: String }
        _ = try await session.send(
            .send(.patch, "\(root)/pulls/\(number)", Body(title: wanted.title, body: wanted.body)))
    }
}
