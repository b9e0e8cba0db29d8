import AsyncHTTPClient
import Delivery
import Foundation
import TestForge
import Testing

@testable import AppStore

/// What testers sent, as App Store Connect answers.
@Suite struct FeedbackTests {
    private func submission(_ id: String, at date: String, comment: String = "It crashed.", build: String? = "77")
        -> String
    {
        let relation = build.map { #","relationships":{"build":{"data":{"type":"builds","id":"\#($0)"}}}"# } ?? ""
        return """
            {"type":"x","id":"\(id)","attributes":{"createdDate":"\(date)","comment":\(Self.json(comment)),
            "deviceModel":"iPhone17,1","osVersion":"19.0"}\(relation)}
            """
    }

    private static func json(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    private func feedback(
        _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer,
        _ body: (TestFlightFeedback, ForgeDouble) async throws -> Void
    ) async throws {
        let server = try await ForgeDouble { request in
            request.path.hasPrefix("/v1/apps?") ? .json(200, Fixture.app) : answer(request)
        }
        var pauses = AppStorePauses()
        pauses.sleep = { _ in }
        let reader = try TestFlightFeedback(
            Fixture.testFlight(), key: Fixture.key, http: .shared, root: server.url, pauses: pauses)
        try await body(reader, server)
        try await server.close()
    }

    @Test(.timeLimit(.minutes(1))) func `both kinds are read, oldest first, and what can't be read hides nothing`()
        async throws
    {
        let old = submission("OLD", at: "2026-01-01T00:00:00Z")
        let crash = submission("CRASH", at: "2026-11-26T10:00:00.5Z")
        let picture = submission("PICTURE", at: "2026-11-26T09:00:00Z", comment: "Too \u{202E}small", build: nil)
        let bad = #"{"type":"x","id":"../x","attributes":{"createdDate":"2026-11-26T10:00:00Z"}}"#
        let builds = #""included":[{"type":"builds","id":"77","attributes":{"version":"812"}}],"links":{"self":"/"}"#
        try await feedback({ request in
            request.path.contains("Crash")
                ? .json(200, #"{"data":[\#(crash),\#(bad),\#(old)],\#(builds)}"#)
                : .json(200, #"{"data":[\#(picture)],\#(builds)}"#)
        }) { reader, server in
            let all = try await reader.submissions(since: Date(timeIntervalSince1970: 1_780_000_000))
            #expect(all.map(\.id) == ["PICTURE", "CRASH"] && all.map(\.kind) == [.screenshot, .crash])
            #expect(all.map(\.build) == [nil, "812"] && all.last?.device == "iPhone17,1")
            #expect(server.requests.allSatisfy { $0.method == "GET" })
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a log that Apple has not made yet is none, and a refused key is a problem`()
        async throws
    {
        try await feedback({ request in
            if request.path.contains("/A/crashLog") {
                return .json(
                    200,
                    #"{"data":{"type":"betaCrashLogs","id":"A","attributes":{"logText":"Incident"}},"links":{"self":"/"}}"#
                )
            }
            return .json(request.path.contains("/B/") ? 404 : 403, "{}")
        }) { reader, _ in
            let (log, none) = (try await reader.crashLog(of: "A"), try await reader.crashLog(of: "B"))
            #expect(log == "Incident" && none == nil)
            let problem = await #expect(throws: DeliveryProblem.self) { try await reader.crashLog(of: "C") }
            #expect(problem?.code == .refused)
        }
    }

    @Test(arguments: ["A1-b_2.c", String(repeating: "a", count: 200)])
    func `identifiers`(id: String) { #expect(TestFlightSubmission.isIdentifier(id)) }

    @Test(arguments: ["", "a/b", "ü", " ", "a\u{0}", String(repeating: "a", count: 201)])
    func `no identifiers`(id: String) { #expect(!TestFlightSubmission.isIdentifier(id)) }
}
