@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import Foundation
import Logging
import Pipeline
import Results
import Store
import Synchronization
import TestBasics
import Testing

@testable import Forges

/// A store in memory with one connected repository, and a courier to a forge that answers as the test wants.
private struct Place: ~Copyable {
    let index: Store.Index
    let double: ForgeDouble
    let courier: ForgeCourier
    let clock: Mutex<Date>

    static func make(
        _ kind: ForgeKind = .gitea, _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer,
        _ body: (Store.Index, ForgeDouble, ForgeCourier, TestClock) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let index = try Store.Index.inMemory(now: { clock.now })
        let double = try await ForgeDouble(answer)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: kind)
        try await index.connectForge("hello", address: address.json(), location: "/hello")
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let session = try ForgeSession(address, .token("token-123"), http: http, now: { clock.now })
        var log = Logger(label: "test")
        log.logLevel = .critical
        let courier = ForgeCourier(
            repository: "hello", index: index, service: session.service, log: log, now: { clock.now })
        do {
            try await body(index, double, courier, clock)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }
}

final class TestClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { date.withLock { $0 } }
    func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
}

private func check(
    _ verdict: Verdict? = nil, _ phase: CheckState.Phase = .ended, run: Int64 = 1, title: String = "t"
) throws -> (String, String) {
    let wanted = ForgeWanted.check(
        CheckState(
            workflow: "test", commit: String(repeating: "1", count: 40), run: RunID(run), phase: phase,
            verdict: verdict,
            title: title))
    return (wanted.thing, try wanted.json())
}

extension Store.Index {
    fileprivate func want(_ items: [(String, String)]) async throws {
        try await wantForgeItems(items.map { (thing: $0.0, wanted: $0.1) }, of: "hello", run: nil, in: nil)
    }
}

@Suite struct CourierTests {
    @Test(.timeLimit(.minutes(1)))
    func `only the newest state of a thing is sent`() async throws {
        try await Place.make(.gitea, { _ in .json(201, "{}") }) { index, double, courier, _ in
            try await index.want([check(nil, .queued)])
            try await index.want([check(nil, .running)])
            try await index.want([check(.failed)])
            #expect(try await courier.deliver() == nil)
            #expect(double.requests.map { $0.json["state"] } == ["failure"])
            // The same state once more is no news.
            try await index.want([check(.failed)])
            #expect(try await courier.deliver() == nil)
            #expect(double.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `an answer that does not come delays nothing else`() async throws {
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            asked.path.contains(String(repeating: "1", count: 40)) ? .silence : .json(201, "{}")
        }
        try await Place.make(.gitea, answer) { index, double, courier, _ in
            let wanted = ForgeSignal()
            let delivering = Task { try await courier.deliver(hearing: wanted) }
            try await index.want([check(.failed)])
            wanted.tell()
            try await eventually("the first request") { double.requests.count == 1 }
            let other = ForgeWanted.check(
                CheckState(
                    workflow: "test", commit: String(repeating: "3", count: 40), run: 2, phase: .ended,
                    verdict: .passed, title: "t"))
            try await index.want([(other.thing, other.json())])
            wanted.tell()
            try await eventually("the delivery of the other") {
                try await index.openForgeItems(of: "hello").map(\.thing) == [check(.failed).0]
            }
            // The thing that waits is not sent again, whatever becomes known meanwhile.
            try await index.want([check(.passed)])
            wanted.tell()
            delivering.cancel()
            _ = try? await delivering.value
            #expect(double.requests.map { $0.json["state"] } == ["failure", "success"])
            let open = try #require(try await index.openForgeItems(of: "hello").first)
            #expect(open.isUncertain && open.version == 2)
        }
    }

    @Test func `a process that begins asks the forge about all that is open`() async throws {
        let index = try Store.Index.inMemory()
        try await index.connectForge("hello", address: "a", location: "/hello")
        try await index.want([check(.passed)])
        let item = try #require(try await index.openForgeItems(of: "hello").first)
        try await index.endForgeItem(item.id, version: item.version, known: nil)
        let other = ForgeWanted.comment(CommentState(change: 7, body: "b", isNews: true))
        try await index.want([(other.thing, other.json())])
        try await index.doubtForgeItems(of: "hello")
        try await index.want([check(.failed)])
        let open = try await index.openForgeItems(of: "hello")
        #expect(open.first { $0.thing == other.thing }?.isUncertain == true)
        #expect(open.first { $0.thing == item.thing }?.isUncertain == false)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [500, 502, 503, 429])
    func `what the forge can't take now is tried again`(status: Int) async throws {
        let count = Mutex(0)
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            guard asked.method == "POST" else { return .json(200, "[]") }
            return count.withLock {
                $0 += 1; return $0
            } <= 2 ? .json(status, "{}") : .json(201, "{}")
        }
        try await Place.make(.gitea, answer) { index, double, courier, clock in
            try await index.want([check(.passed)])
            var tries = 0
            while try await courier.deliver() != nil, tries < 10 {
                clock.advance(400)
                tries += 1
            }
            #expect(tries == 2)
            #expect(double.requests.filter { $0.method == "POST" }.count == 3)
            #expect(try await index.openForgeItems(of: "hello").isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `an answer that was cut off is looked for before it is sent again`() async throws {
        let count = Mutex(0)
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            if asked.method == "GET" {
                return .json(200, #"[{"status": "success", "context": "pipectl/test", "description": "t"}]"#)
            }
            return count.withLock {
                $0 += 1; return $0
            } == 1 ? .cut : .json(201, "{}")
        }
        try await Place.make(.gitea, answer) { index, double, courier, clock in
            try await index.want([check(.passed)])
            #expect(try await courier.deliver() != nil)
            clock.advance(60)
            #expect(try await courier.deliver() == nil)
            #expect(double.requests.filter { $0.method == "POST" }.count == 1)
            #expect(double.requests.filter { $0.method == "GET" }.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `what the forge refuses for good is set aside, and a newer state is tried`() async throws {
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            asked.json["state"] == "failure" ? .json(422, #"{"message": "no"}"#) : .json(201, "{}")
        }
        try await Place.make(.gitea, answer) { index, double, courier, _ in
            try await index.want([check(.failed)])
            #expect(try await courier.deliver() == nil)
            #expect(try await index.refusedForgeItems(of: "hello").count == 1)
            try await index.want([check(.passed)])
            #expect(try await courier.deliver() == nil)
            #expect(try await index.refusedForgeItems(of: "hello").isEmpty)
            #expect(double.requests.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a limit stops all requests until its end`() async throws {
        let limited = Mutex(true)
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            guard asked.method == "POST" else { return .json(200, "[]") }
            guard limited.withLock({ $0 }) else { return .json(201, "{}") }
            return .json(
                403, #"{"message": "You have exceeded a secondary rate limit"}"#, headers: ["retry-after": "90"])
        }
        try await Place.make(.github, answer) { index, double, courier, clock in
            let states = try (1...50).map { number in
                let wanted = ForgeWanted.check(
                    CheckState(
                        workflow: "w\(number)", commit: String(repeating: "2", count: 40), run: 1, phase: .ended,
                        verdict: .passed, title: "t"))
                return (wanted.thing, try wanted.json())
            }
            try await index.want(states)
            let next = try #require(try await courier.deliver())
            #expect(next.timeIntervalSince(clock.now) >= 89)
            let sent = double.requests.count
            #expect(sent <= ForgeCourier.width)
            limited.withLock { $0 = false }
            clock.advance(91)
            #expect(try await courier.deliver() == nil)
            #expect(try await index.openForgeItems(of: "hello").isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a comment is made only for news, then edited`() async throws {
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            asked.method == "POST" ? .json(201, #"{"id": 77, "body": ""}"#) : .json(200, #"{"id": 77, "body": ""}"#)
        }
        try await Place.make(.gitea, answer) { index, double, courier, _ in
            func want(_ body: String, _ isNews: Bool) async throws {
                let wanted = ForgeWanted.comment(CommentState(change: 7, body: body, isNews: isNews))
                try await index.want([(wanted.thing, wanted.json())])
                #expect(try await courier.deliver() == nil)
            }
            try await want("passed", false)
            #expect(double.requests.isEmpty)
            try await want("failed", true)
            try await want("passed again", false)
            #expect(double.requests.map(\.method) == ["POST", "PATCH"])
            #expect(double.requests.last?.path == "/api/v1/repos/octo/hello/issues/comments/77")
            #expect(double.requests.last?.json["body"]?.hasSuffix("passed again") == true)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a comment whose number was never learned is found by its mark, not by a forged one`() async throws {
        let mark = CommentMark(.token("token-123"), project: "octo/hello").text(7)
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { asked in
            switch asked.method {
            case "GET":
                .json(
                    200,
                    """
                    [{"id": 3, "body": "<!-- pipectl 7 000000000000000000000000 -->"}, {"id": 9, "body": "\(mark)\\ncopy"},
                     {"id": 5, "body": "\(mark)\\nold"}]
                    """)
            case "PATCH": .json(200, #"{"id": 5}"#)
            default: .json(201, #"{"id": 100}"#)
            }
        }
        try await Place.make(.gitea, answer) { index, double, courier, _ in
            let wanted = ForgeWanted.comment(CommentState(change: 7, body: "failed", isNews: true))
            try await index.want([(wanted.thing, wanted.json())])
            // A daemon that was killed while it sent.
            let item = try #require(try await index.openForgeItems(of: "hello").first)
            try await index.beginForgeItem(item.id)
            #expect(try await courier.deliver() == nil)
            #expect(double.requests.map(\.method) == ["GET", "PATCH"])
            #expect(double.requests.last?.path.hasSuffix("/comments/5") == true)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a redirect is not followed and no token leaves in a path`() async throws {
        let answer: @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer = { _ in
            .json(302, "{}", headers: ["location": "http://127.0.0.1:1/elsewhere"])
        }
        try await Place.make(.gitlab, answer) { index, double, courier, _ in
            try await index.want([check(.passed)])
            #expect(try await courier.deliver() == nil)
            let refused = try #require(try await index.refusedForgeItems(of: "hello").first)
            #expect(refused.refusal?.contains("token-123") == false)
            #expect(double.requests.count == 1)
            #expect(double.requests.allSatisfy { !$0.path.contains("token-123") })
            #expect(double.requests.first?.headers["private-token"] == "token-123")
        }
    }
}
