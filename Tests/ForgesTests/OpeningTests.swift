import AsyncHTTPClient
import Foundation
import Synchronization
import TestForge
import Testing

@testable import ChangeOpening
@testable import ForgeConnection
@testable import Forges

/// A forge that keeps changes, and can lose its answers.
private final class OpeningForge: Sendable {
    struct State {
        var pulls: [(number: Int, branch: String, base: String, title: String, body: String, state: String)] = []
        /// Requests that make something, whose answers are lost.
        var loses = 0
        var made = 0
        var edited = 0
    }
    let kind: ForgeKind
    let state = Mutex(State())

    init(_ kind: ForgeKind) { self.kind = kind }

    private func view(_ pull: (number: Int, branch: String, base: String, title: String, body: String, state: String))
        -> String
    {
        let text = { (text: String) in
            (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let isOpen = pull.state == "open"
        if kind == .gitlab {
            return """
                {"iid": \(pull.number), "web_url": "https://example.com/mr/\(pull.number)", "title": \(text(pull.title)),
                "description": \(text(pull.body)), "state": "\(isOpen ? "opened" : pull.state)", "sha": "\(Delivery.head)",
                "source_branch": "\(pull.branch)", "target_branch": "\(pull.base)", "source_project_id": 1,
                "target_project_id": 1}
                """
        }
        let merged = pull.state == "merged"
        return """
            {"number": \(pull.number), "html_url": "https://example.com/pull/\(pull.number)", "title": \(text(pull.title)),
            "body": \(text(pull.body)), "state": "\(isOpen ? "open" : "closed")", "merged": \(merged),
            "merged_at": \(merged ? "\"2026-01-01T00:00:00Z\"" : "null"), "updated_at": "2030-01-01T00:00:00Z",
            "head": {"ref": "\(pull.branch)", "sha": "\(Delivery.head)", "repo_id": 1, "repo": {"id": 1}},
            "base": {"ref": "\(pull.base)", "sha": "\(Delivery.head)", "repo_id": 1, "repo": {"id": 1}}}
            """
    }

    func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        state.withLock { state in
            let path = asked.path.split(separator: "?").first.map(String.init) ?? ""
            let fields = asked.json
            switch asked.method {
            case "GET": return .json(200, "[\(state.pulls.reversed().map(view).joined(separator: ","))]")
            case "POST":
                let branch = fields["head"] ?? fields["source_branch"] ?? ""
                let base = fields["base"] ?? fields["target_branch"] ?? ""
                if state.pulls.contains(where: { $0.branch == branch && $0.state == "open" }) {
                    return .json(kind == .github ? 422 : 409, #"{"message": "it exists"}"#)
                }
                state.made += 1
                state.pulls.append(
                    (
                        state.pulls.count + 1, branch, base, fields["title"] ?? "",
                        fields["body"] ?? fields["description"] ?? "", "open"
                    ))
                if state.loses > 0 {
                    state.loses -= 1
                    return .cut
                }
                return .json(201, state.pulls.last.map(view) ?? "")
            default:
                state.edited += 1
                let number = path.split(separator: "/").last.flatMap { Int($0) } ?? 0
                for index in state.pulls.indices where state.pulls[index].number == number {
                    state.pulls[index].title = fields["title"] ?? ""
                    state.pulls[index].body = fields["body"] ?? fields["description"] ?? ""
                }
                return .json(200, "{}")
            }
        }
    }

    static func use(
        _ kind: ForgeKind, _ body: (OpeningForge, any ForgeOpeningService) async throws -> Void
    ) async throws {
        let forge = OpeningForge(kind)
        let double = try await ForgeDouble { forge.answer($0) }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
        do {
            try await body(forge, ForgeSession(address, .token("token-123"), http: http).openingService)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }
}

@Suite struct OpeningTests {
    private let wanted = ForgeOpening(
        branch: "pipectl/task-12", target: "main", title: "Task 12: mend\nit", body: "A plan.\n\nTests.",
        since: Date(timeIntervalSince1970: 1_800_000_000))

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `a change is opened once, and its text is replaced in place`(kind: ForgeKind) async throws {
        try await OpeningForge.use(kind) { forge, service in
            let opened = try await service.open(wanted)
            #expect(opened.number == 1 && opened.head == Delivery.head && opened.state == .open)
            #expect(opened.link?.hasPrefix("https://example.com/") == true)
            #expect(forge.state.withLock { $0.pulls.map(\.title) } == ["Task 12: mend it"])
            for _ in 0..<2 { #expect(try await service.open(wanted).number == 1) }
            #expect(forge.state.withLock { $0.made } == 1 && forge.state.withLock { $0.edited } == 0)
            var other = wanted
            other.body = "Another plan."
            #expect(try await service.open(other).number == 1)
            #expect(forge.state.withLock { $0.pulls.map(\.body) } == ["Another plan."])
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `an answer that was lost leaves one change`(kind: ForgeKind) async throws {
        try await OpeningForge.use(kind) { forge, service in
            forge.state.withLock { $0.loses = 1 }
            await #expect(throws: ForgeError.self) { try await service.open(wanted) }
            let opened = try await service.open(wanted)
            #expect(opened.number == 1 && forge.state.withLock { $0.made } == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases, ["merged", "closed"])
    func `what a person closed or merged stays, and no other is opened`(kind: ForgeKind, end: String) async throws {
        try await OpeningForge.use(kind) { forge, service in
            _ = try await service.open(wanted)
            forge.state.withLock { $0.pulls[0].state = end }
            var other = wanted
            other.body = "Another plan."
            let found = try await service.open(other)
            #expect(found.state == (end == "merged" ? .merged : .closed))
            #expect(forge.state.withLock { $0.made } == 1 && forge.state.withLock { $0.edited } == 0)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `a change of another branch or into another target is another one`(kind: ForgeKind) async throws {
        try await OpeningForge.use(kind) { forge, service in
            forge.state.withLock {
                $0.pulls = [
                    (1, "pipectl/task-1", "main", "t", "b", "open"), (2, "pipectl/task-12", "old", "t", "b", "open"),
                ]
            }
            let found = try await service.found(wanted)
            #expect(found == nil)
        }
    }

    @Test(arguments: [
        ("https://example.com/pull/1", true), ("http://example.com/pull/1", true), ("javascript:alert(1)", false),
        ("https://example.com/\" onload=\"", false), ("https://example.com/ü", false), ("", false),
    ])
    func `links that a browser can open`(text: String, isLink: Bool) {
        #expect((ForgeSession.link(text) != nil) == isLink)
    }
}
