import Foundation
import Synchronization
import Testing

@testable import TaskService

/// What the crash endpoint takes and refuses.
@Suite struct CrashEndpointTests {
    private static let token = "0123456789abcdef-token"
    private static let report = Data("Fatal error: Index out of range: file A.swift, line 3\n".utf8)

    private final class Taken: Sendable {
        let deliveries = Mutex<[CrashEndpoint.Delivery]>([])
        let refuses = Mutex<String?>(nil)
        let breaks = Mutex(false)
    }

    private struct Broken: Error {}

    private func endpoint(
        _ tokens: [String: String?] = ["shop": token], _ taken: Taken = Taken(), gate: CrashGate = CrashGate()
    ) -> CrashEndpoint {
        CrashEndpoint(
            gate: gate,
            repositories: { tokens.mapValues { $0.map { Array(($0 + "\n").utf8) } } },
            take: { delivery in
                if let sentence = taken.refuses.withLock({ $0 }) { throw CrashEndpoint.Refusal(sentence) }
                if taken.breaks.withLock({ $0 }) { throw Broken() }
                let count = taken.deliveries.withLock {
                    $0.append(delivery)
                    return $0.count
                }
                return CrashEndpoint.Taken(task: 12, isNew: count == 1, count: count, state: "planning")
            })
    }

    /// The status that a request is answered with.
    private func status(
        _ endpoint: CrashEndpoint, _ body: Data = report, method: String = "POST", target: String = "/api/crashes",
        headers: [String: String] = ["authorization": "Bearer \(token)"], address: String = "10.0.0.1"
    ) async -> Int {
        switch await endpoint.admit(method: method, target: target, headers: headers, address: address) {
        case .failure(let refusal): refusal.answer.status
        case .success(let repository): await endpoint.answer(body, for: repository).status
        }
    }

    @Test func `a report makes a task, and the same crash counts`() async throws {
        let taken = Taken()
        let endpoint = endpoint(taken)
        let admitted = await endpoint.admit(
            method: "POST", target: "/api/crashes/shop", headers: ["authorization": "bearer \(Self.token)"],
            address: "10.0.0.1")
        #expect(admitted == .success("shop"))
        let first = await endpoint.answer(Self.report, for: "shop")
        #expect(first.status == 201 && first.body == #"{"count":1,"isNew":true,"state":"planning","task":12}"#)
        let second = await endpoint.answer(Self.report, for: "shop")
        #expect(second.status == 200 && second.body.contains(#""count":2"#))
        #expect(taken.deliveries.withLock { $0.map(\.report) } == [Self.report, Self.report])
    }

    private func endpoint(_ taken: Taken) -> CrashEndpoint { endpoint(["shop": Self.token], taken) }

    @Test func `a report in JSON brings words and a version`() async throws {
        let taken = Taken()
        let body =
            #"{"report": "Fatal error: x", "text": "it \#(String(repeating: "é", count: 20_000))", "version": "1.4"}"#
        #expect(await status(endpoint(taken), Data(body.utf8)) == 201)
        let delivery = try #require(taken.deliveries.withLock { $0.first })
        #expect(delivery.report == Data("Fatal error: x".utf8) && delivery.version == "1.4")
        #expect((delivery.text ?? "").utf8.count <= CrashEndpoint.mostWords + 3)
        // Apple's reports are JSON without such a field.
        let apple = Data(#"{"app_name":"Shop","bug_type":"309"}\#n{"frames":[]}"#.utf8)
        #expect(await status(endpoint(taken), apple) == 200)
        #expect(taken.deliveries.withLock { $0.last?.report } == apple)
    }

    @Test(arguments: [
        [:], ["authorization": ""], ["authorization": "Bearer"], ["authorization": "Bearer "],
        ["authorization": "Bearer \(token)x"], ["authorization": "Basic \(token)"], ["authorization": token],
        ["authorization": "Bearer " + String(repeating: "a", count: 10_000)],
    ])
    func `a wrong token is refused, whichever repository it names`(headers: [String: String]) async {
        let endpoint = endpoint()
        for target in ["/api/crashes", "/api/crashes/", "/api/crashes/shop", "/api/crashes/other"] {
            #expect(await status(endpoint, target: target, headers: headers) == 401)
        }
    }

    @Test func `a repository without a token, or with a short one, takes nothing`() async {
        for tokens in [["shop": nil], ["shop": ""], ["shop": "short"], [:]] as [[String: String?]] {
            for given in ["", "short", Self.token] {
                #expect(await status(endpoint(tokens), headers: ["authorization": "Bearer \(given)"]) == 401)
            }
        }
    }

    @Test func `the token decides, and the same one twice needs a name`() async {
        let other = "another-long-token-of-another"
        let taken = Taken()
        let two = endpoint(["shop": Self.token, "app": other], taken)
        #expect(await status(two) == 201)
        #expect(await status(two, headers: ["authorization": "Bearer \(other)"]) == 200)
        #expect(taken.deliveries.withLock { $0.map(\.repository) } == ["shop", "app"])
        // The token of one repository opens no other.
        #expect(await status(two, target: "/api/crashes/app") == 401)
        let same = endpoint(["shop": Self.token, "app": Self.token])
        #expect(await status(same) == 400)
        #expect(await status(same, target: "/api/crashes/app") == 201)
    }

    @Test(arguments: [
        ("GET", "/api/crashes", 405), ("POST", "/api/crashes/a/b", 404), ("POST", "/api/crashesx", 404),
        ("POST", "/api/crashes/%ZZ", 404), ("POST", "/api/crashes/" + String(repeating: "a", count: 3_000), 404),
    ])
    func `other requests`(method: String, target: String, wanted: Int) async {
        #expect(await status(endpoint(), method: method, target: target) == wanted)
        #expect(CrashEndpoint.isMeant(target) == (target != "/api/crashesx"))
    }

    @Test func `what is too large, empty or unreadable is said`() async {
        let headers = ["authorization": "Bearer \(Self.token)"]
        let large = Data(repeating: 0x41, count: CrashEndpoint.mostBytes + 1)
        #expect(await status(endpoint(), large) == 413)
        #expect(await status(endpoint(), Data(repeating: 0x41, count: CrashEndpoint.mostBytes)) == 201)
        for length in ["99999999999", "-1", "x", ""] {
            let more = headers.merging(["content-length": length]) { $1 }
            #expect(await status(endpoint(), headers: more) == 413)
        }
        for empty in ["", "  \n", #"{"report": ""}"#] {
            #expect(await status(endpoint(), Data(empty.utf8)) == 400)
        }
        let taken = Taken()
        taken.refuses.withLock { $0 = "the crash report can't be read: it is a picture" }
        let answer = await endpoint(taken).answer(Self.report, for: "shop")
        #expect(answer.status == 422)
        #expect(answer.body == #"{"error":"the crash report can't be read: it is a picture"}"#)
        taken.refuses.withLock { $0 = nil }
        taken.breaks.withLock { $0 = true }
        let broken = await endpoint(taken).answer(Self.report, for: "shop")
        #expect(broken.status == 503 && broken.retryAfter != nil)
    }

    @Test func `wrong tokens of one address, and reports of one repository, are bounded`() async {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let gate = CrashGate(now: { time.withLock { $0 } })
        let endpoint = endpoint(gate: gate)
        let wrong = ["authorization": "Bearer nothing-at-all-here"]
        for _ in 0..<CrashGate.mostFailures { #expect(await status(endpoint, headers: wrong) == 401) }
        #expect(await status(endpoint, headers: wrong) == 429)
        #expect(await status(endpoint) == 429)
        // Nobody else is held up.
        #expect(await status(endpoint, address: "10.0.0.2") == 201)
        time.withLock { $0 += 61 }
        #expect(await status(endpoint) == 200)
        for _ in 1..<CrashGate.mostReports { #expect(gate.take("shop") == nil) }
        let held = await endpoint.admit(
            method: "POST", target: "/api/crashes", headers: ["authorization": "Bearer \(Self.token)"],
            address: "10.0.0.3")
        guard case .failure(let refusal) = held else {
            Issue.record("it was not held")
            return
        }
        #expect(refusal.answer.status == 429 && (1...60).contains(refusal.answer.retryAfter ?? 0))
        // A clock that was set back holds nobody up for long.
        time.withLock { $0 -= 1_000_000 }
        #expect(gate.take("shop") == nil)
    }

    @Test func `as many reports are read at once as fit into memory`() {
        let gate = CrashGate()
        for _ in 0..<CrashGate.mostAtOnce { #expect(gate.begin()) }
        #expect(!gate.begin())
        gate.end()
        #expect(gate.begin())
    }
}
