import AsyncHTTPClient
import Foundation
import TestForge
import Testing

@testable import ForgeConnection
@testable import Forges

/// Issues of GitLab, as its documentation describes them: https://docs.gitlab.com/api/issues/ and
/// https://docs.gitlab.com/api/notes/
@Suite struct GitLabIssueTests {
    private func use(
        _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer,
        _ body: (ForgeSession, ForgeDouble) async throws -> Void
    ) async throws {
        let double = try await ForgeDouble(answer)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: .gitlab)
        do {
            try await body(try ForgeSession(address, .token("token-123"), http: http), double)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }

    private static let issue = """
        {"iid": 9, "title": "Crash", "description": "It crashes", "state": "opened", "labels": ["agent"],
        "author": {"username": "ada", "id": 3}, "web_url": "https://gitlab.example/octo/hello/-/issues/9",
        "updated_at": "2026-11-26T10:00:00.123Z"}
        """
    private static let notes = """
        [{"id": 5, "body": "/pipectl task", "author": {"username": "ada", "id": 3}, "system": false,
        "created_at": "2026-11-26T10:00:00.123Z", "updated_at": "2026-11-26T10:00:00.123Z"},
        {"id": 6, "body": "added label", "author": {"username": "ada", "id": 3}, "system": true,
        "created_at": "2026-11-26T10:00:00.123Z", "updated_at": "2026-11-26T10:00:00.123Z"}]
        """

    @Test(.timeLimit(.minutes(1))) func `an issue and its notes`() async throws {
        try await use({ asked in
            if asked.path.contains("/notes") { return .json(200, Self.notes) }
            if asked.path.contains("/issues/8") { return .json(404, "{}") }
            return .json(200, asked.path.contains("/issues/9") ? Self.issue : "[\(Self.issue)]")
        }) { session, double in
            let issue = try await session.reader.issue(9)
            #expect(issue?.author == ForgeUser(login: "ada", id: 3) && issue?.labels == ["agent"])
            #expect(issue?.isOpen == true && issue?.body == "It crashes" && issue?.link != nil)
            let none = try await session.reader.issue(8)
            let all = try await session.reader.issues(since: Date(timeIntervalSince1970: 0), etag: nil)
            let said = try await session.reader.issueRemarks(of: 9, since: Date(timeIntervalSince1970: 0))
            #expect(none == nil && all?.issues.map(\.number) == [9] && said.map(\.id) == [5])
            #expect(double.requests.allSatisfy { $0.path.hasPrefix("/api/v4/projects/octo%2Fhello/issues") })
        }
    }

    @Test(.timeLimit(.minutes(1))) func `the comment of a task and the answer to a command stand at the issue`()
        async throws
    {
        try await use({ _ in .json(200, #"{"id": 7}"#) }) { session, double in
            let note = IssueNote(issue: 9, task: 12, body: "A plan.", isNews: true)
            let known = try await session.show(note, after: ForgePast())
            _ = try await session.show(note, after: ForgePast(known: known))
            var answer = CommandAnswer(change: 9, comment: 5, isObeyed: true, text: "task 12 begins")
            answer.isAtIssue = true
            _ = try await session.show(answer, after: ForgePast())
            let root = "/api/v4/projects/octo%2Fhello/issues/9/notes"
            #expect(double.requests.map(\.method) == ["POST", "PUT", "POST"])
            #expect(double.requests.map(\.path) == [root, "\(root)/7", root])
            #expect(double.requests.first?.json["body"]?.hasPrefix("<!-- pipectl 9 ") == true)
        }
    }
}
