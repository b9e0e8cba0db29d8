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

/// A forge that fails at random, in every way that a forge has, while the daemon is killed again and again.
@Suite struct FaultyForgeTests {
    /// 1,000 in the long form: `PIPECTL_FORGE_VERDICTS=1000 script/test --filter FaultyForgeTests`.
    private static let verdicts = Int(ProcessInfo.processInfo.environment["PIPECTL_FORGE_VERDICTS"] ?? "") ?? 150
    private static let kills = 20

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3] as [UInt64])
    func `every check ends with its right state, once, whatever fails`(seed: UInt64) async throws {
        let forge = FaultyForge(seed: seed)
        let clock = TestClock()
        let index = try Store.Index.inMemory(now: { clock.now })
        let double = try await ForgeDouble(forge.answer)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: .github, api: double.url)
        try await index.connectForge("hello", address: address.json(), location: "/hello")
        var random = SplitMix64(seed: seed &* 77)
        var wanted: [String: CheckState] = [:]
        for number in 0..<Self.verdicts {
            for phase in [CheckState.Phase.queued, .running, .ended] {
                let state = Self.state(number, phase, &random)
                let item = ForgeWanted.check(state)
                try await index.wantForgeItems(
                    [(item.thing, item.json())], of: "hello", run: nil, in: nil)
                wanted[state.name] = state
            }
        }
        var kill = 0
        var rounds = 0
        while rounds < 2_000 {
            rounds += 1
            // A killed daemon is a courier that is cancelled while it sends; the next one knows what the store knows.
            let isKilled = kill < Self.kills && random.next() % 2 == 0
            if isKilled { kill += 1 }
            let pause = isKilled ? Int(random.next() % 40) : nil
            let next = try await Self.deliver(index, address, clock, killedAfter: pause)
            if try await index.openForgeItems(of: "hello").isEmpty { break }
            clock.advance(max(next?.timeIntervalSince(clock.now) ?? 1, 0.1))
        }
        let shown = forge.shown
        #expect(Set(shown.keys) == Set(wanted.keys))
        for (name, state) in wanted {
            let runs = shown[name] ?? []
            #expect(runs.count == 1, "\(name) is there \(runs.count) times")
            #expect(runs.last?.conclusion == state.verdict.map(GitHubService.conclusion))
            #expect(runs.last?.annotations == state.annotations.count)
        }
        #expect(try await index.refusedForgeItems(of: "hello").isEmpty)
        let smallest = wanted.values.reduce(0) { $0 + max(($1.annotations.count + 49) / 50, 1) }
        print(
            "seed \(seed): \(forge.requests) requests, \(smallest) are the fewest possible, \(forge.faults) of them failed, \(kill) kills"
        )
        try await double.close()
    }

    private static func state(_ number: Int, _ phase: CheckState.Phase, _ random: inout SplitMix64) -> CheckState {
        let verdicts: [Verdict] = [.passed, .failed, .flaky, .superseded, .cancelled, .infrastructure]
        var state = CheckState(
            workflow: "w\(number)", commit: String(repeating: "2", count: 40), run: RunID(Int64(number + 1)),
            phase: phase,
            title: "\(phase)")
        guard phase == .ended else { return state }
        state.verdict = verdicts[Int(random.next() % UInt64(verdicts.count))]
        state.annotations = (0..<Int(random.next() % 120)).map {
            CheckState.Annotation(path: "a.swift", line: $0 + 1, severity: .error, title: "t\($0)", message: "m")
        }
        return state
    }

    private static func deliver(
        _ index: Store.Index, _ address: ForgeAddress, _ clock: TestClock, killedAfter milliseconds: Int?
    ) async throws -> Date? {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let session = try ForgeSession(address, .token("token-123"), http: http, now: { clock.now })
        var log = Logger(label: "test")
        log.logLevel = .critical
        let courier = ForgeCourier(
            repository: "hello", index: index, service: AppService(session: session), log: log, now: { clock.now })
        let next = await withTaskGroup(of: Date?.self) { group in
            group.addTask { try? await courier.deliver() }
            if let milliseconds {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(milliseconds))
                    return nil
                }
                let first = await group.next()
                group.cancelAll()
                return first ?? nil
            }
            return await group.next() ?? nil
        }
        try? await http.shutdown()
        return next
    }
}

/// GitHub's check runs without an App's tokens, which have tests of their own.
private struct AppService: ForgeService {
    let session: ForgeSession
    func identity() async throws -> ForgeIdentity { ForgeIdentity(login: "x", permissions: []) }
    func show(_ state: CheckState, after past: ForgePast) async throws -> String? {
        try await GitHubService(session: session).showCheckRun(state, after: past)
    }
    func show(_ state: CommentState, after past: ForgePast) async throws -> String? { nil }
    func show(_ state: ReviewState, after past: ForgePast) async throws -> String? { nil }
}

/// Keeps check runs as GitHub does, and fails a third of the requests: before they took effect or after.
private final class FaultyForge: Sendable {
    struct CheckRun: Sendable {
        var id: Int
        var name: String
        var external: String
        var status = ""
        var conclusion: String?
        var annotations = 0
    }
    private struct State: Sendable {
        var random: SplitMix64
        var runs: [Int: CheckRun] = [:]
        var requests = 0
        var faults = 0
    }
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    var requests: Int { state.withLock { $0.requests } }
    var faults: Int { state.withLock { $0.faults } }
    var shown: [String: [CheckRun]] {
        state.withLock { Dictionary(grouping: $0.runs.values.sorted { $0.id < $1.id }, by: \.name) }
    }

    func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        state.withLock { state in
            state.requests += 1
            let fault = state.random.next() % 30
            if fault < 10 { state.faults += 1 }
            switch fault {
            case 0, 1: return .json(500, "{}")
            case 2: return .json(429, "{}", headers: ["retry-after": "2"])
            case 3: return .json(403, #"{"message": "secondary rate limit"}"#, headers: ["retry-after": "3"])
            case 4, 5: return .cut
            default: break
            }
            let answer = Self.effect(asked, &state)
            switch fault {
            case 6, 7: return .cut
            case 8, 9: return .json(502, "{}")
            default: return answer
            }
        }
    }

    private static func effect(_ asked: ForgeDouble.Asked, _ state: inout State) -> ForgeDouble.Answer {
        let body = (try? JSONSerialization.jsonObject(with: Data(asked.body.utf8))) as? [String: Any] ?? [:]
        let path = asked.path.split(separator: "?")[0]
        switch asked.method {
        case "POST":
            let id = state.runs.count + 1
            var run = CheckRun(
                id: id, name: body["name"] as? String ?? "", external: body["external_id"] as? String ?? "")
            apply(body, to: &run)
            state.runs[id] = run
            return .json(201, view(run))
        case "PATCH":
            guard let id = path.split(separator: "/").last.flatMap({ Int($0) }), var run = state.runs[id] else {
                return .json(404, "{}")
            }
            apply(body, to: &run)
            state.runs[id] = run
            return .json(200, view(run))
        default:
            if let id = path.split(separator: "/").last.flatMap({ Int($0) }) {
                return state.runs[id].map { .json(200, view($0)) } ?? .json(404, "{}")
            }
            let name = asked.path.removingPercentEncoding?.split(separator: "check_name=").last?.split(separator: "&")
                .first
            let found = state.runs.values.filter { $0.name == name.map(String.init) }.map(view)
            return .json(200, #"{"check_runs": [\#(found.joined(separator: ","))]}"#)
        }
    }

    private static func apply(_ body: [String: Any], to run: inout CheckRun) {
        run.status = body["status"] as? String ?? run.status
        run.conclusion = body["conclusion"] as? String
        let output = body["output"] as? [String: Any]
        run.annotations += (output?["annotations"] as? [Any])?.count ?? 0
    }

    private static func view(_ run: CheckRun) -> String {
        #"{"id": \#(run.id), "external_id": "\#(run.external)", "output": {"annotations_count": \#(run.annotations)}}"#
    }
}
