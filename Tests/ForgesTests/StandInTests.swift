@testable import ChangeOpening
@testable import ForgeConnection
import Diagnostics
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Pipeline
import Results
import Testing

@testable import Forges

/// The services against servers that check every request against the forges' published API descriptions.
///
/// `script/forges` starts the servers and sets `PIPECTL_FORGE_SERVERS` to `github=URL gitlab=URL …`; without it these tests
/// are left out.
@Suite(.enabled(if: StandIn.isThere, "script/forges runs these"), .serialized)
struct StandInTests {
    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `a change's whole way is shown without one request that the description forbids`(forge: StandIn) async throws {
        let before = try await forge.comments()
        try await forge.use { service in
            let identity = try await service.identity()
            #expect(!identity.permissions.contains { !$0.isGranted })

            var check = CheckState(
                workflow: "test", commit: StandIn.head, run: 1, phase: .queued, title: "queued as run 1")
            var known = try await service.show(check, after: ForgePast())
            check.phase = .running
            check.startedAt = Date()
            for step in 1...3 {
                check.title = "\(step) of 7 steps done"
                known = try await service.show(check, after: ForgePast(known: known))
            }
            check.phase = .ended
            check.verdict = .failed
            check.endedAt = Date()
            check.title = "failed: " + String(repeating: "ünïcödé ", count: 60)
            check.summary = String(repeating: "A line of the summary, with ünïcödé.\n", count: 4_000)
            check.actions = [.rerun, .rerunFailed]
            check.annotations = (1...120).map {
                CheckState.Annotation(
                    path: "Sources/Hello.swift", line: $0, severity: .error, title: "test \($0) failed",
                    message: "Expectation failed: \($0)")
            }
            known = try await service.show(check, after: ForgePast(known: known))
            // An answer that was lost: the same state once more.
            known = try await service.show(check, after: ForgePast(known: known, isUncertain: true))

            var comment = try await service.show(
                CommentState(change: 1, body: "It failed.", isNews: true), after: ForgePast())
            #expect(comment != nil)
            // Made, but its number was never learned.
            let again = try await service.show(
                CommentState(change: 1, body: "It failed again.", isNews: true), after: ForgePast(isUncertain: true))
            #expect(again == comment)
            comment = try await service.show(
                CommentState(change: 1, body: "- `test`: passed", isNews: false), after: ForgePast(known: comment))
            #expect(again == comment)

            // The next run of the same commit passes.
            let second = CheckState(
                workflow: "test", commit: StandIn.head, run: 2, phase: .ended, verdict: .passed, title: "passed",
                startedAt: Date(), endedAt: Date())
            _ = try await service.show(second, after: ForgePast(known: known))
        }
        let violations = try await forge.violations()
        #expect(violations == [])
        #expect(try await forge.comments() == before + 1)
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all, Verdict.allCases)
    func `every verdict can be shown`(forge: StandIn, verdict: Verdict) async throws {
        try await forge.use { service in
            let check = CheckState(
                workflow: "verdict \(verdict.rawValue)", commit: StandIn.head, run: 9, phase: .ended, verdict: verdict,
                title: verdict.title, endedAt: Date())
            _ = try await service.show(check, after: ForgePast())
        }
        #expect(try await forge.violations() == [])
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `a review is made, mended and opened again without a request that the description forbids`(
        forge: StandIn
    ) async throws {
        try await forge.use { service in
            func state(_ mended: Bool) -> ReviewState {
                let remarks = (1...4).map { number in
                    ReviewState.Remark(
                        fingerprint: "f\(number)",
                        place: ChangeDelta.Place(
                            path: "Sources/Hello.swift", oldPath: "Sources/Hello.swift", line: number),
                        linesBefore: number == 3 ? 1 : 0, text: "finding \(number)", replacement: "print()",
                        isSettled: mended)
                }
                return ReviewState(
                    change: 1, commit: StandIn.head,
                    remarks: remarks + [ReviewState.Remark(fingerprint: "whole", text: "all", isSettled: mended)])
            }
            var known = try await service.show(state(false), after: ForgePast())
            #expect(known?.isEmpty == false)
            let again = try await service.show(state(false), after: ForgePast(isUncertain: true))
            #expect(again == known)
            for mended in [true, false] {
                known = try await service.show(state(mended), after: ForgePast(known: known))
            }
        }
        #expect(try await forge.violations() == [])
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `code scanning is sent what it understands`(forge: StandIn) async throws {
        let sarif = """
            {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": [{"message": {"text": "m"},
             "locations": [{"physicalLocation": {"artifactLocation": {"uri": "Sources/Hello.swift"}}}]}]}]}
            """
        try await forge.use { service in
            let scan = ScanState(
                workflow: "test", run: 1, step: 1, number: 1, file: "f", commit: StandIn.head, ref: "refs/pull/1/head")
            let id = try await service.send(scan, Array(sarif.utf8))
            #expect((id == nil) == (forge.kind != .github))
        }
        #expect(try await forge.violations() == [])
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `a change is merged once, and only at the tested head`(forge: StandIn) async throws {
        try await forge.use { service in
            var order = ForgeMerge(change: 1, head: String(repeating: "9", count: 40), method: .merge, title: "Greet")
            let error = await #expect(throws: ForgeMergeError.self) { try await service.merge(order) }
            #expect(error?.code == .headMoved || error?.code == .notMergeable)
            order.head = try await service.mergeFacts(1).head
            // The target's rule wants the check of this workflow.
            let passed = CheckState(
                workflow: "test", commit: order.head, run: 3, phase: .ended, verdict: .passed, title: "passed",
                startedAt: Date(), endedAt: Date())
            _ = try await service.show(passed, after: ForgePast())
            let merged = try await service.merge(order)
            #expect(merged.commit.count == 40)
            #expect(try await service.merge(order) == merged)
        }
        #expect(try await forge.violations() == [])
        // The other tests want the change open.
        try await forge.reset()
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `a change is opened once, said anew, and found whatever became of it`(forge: StandIn) async throws {
        let branch = "pipectl/task-12"
        try await forge.seed(branch: branch, at: StandIn.head)
        try await forge.use(session: { session in
            var wanted = ForgeOpening(
                branch: branch, target: "main", title: "Task 12: mend it", body: "# Plan\n\nFine.", since: Date())
            #expect(try await session.openingService.found(wanted) == nil)
            let opened = try await session.openingService.open(wanted)
            #expect(opened.number > 1 && opened.head == StandIn.head && opened.link != nil)
            wanted.body = "# Plan\n\nBetter."
            for _ in 0..<2 { #expect(try await session.openingService.open(wanted).number == opened.number) }
            let found = try #require(try await session.openingService.found(wanted))
            #expect(found.body == wanted.body && found.number == opened.number)
            #expect(try await session.reader.reviewRemarks(of: opened.number, since: .distantPast).isEmpty)
        })
        #expect(try await forge.violations() == [])
        try await forge.reset()
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `issues are read, and a task's comment there is one`(forge: StandIn) async throws {
        // The server has no issues of GitLab.
        guard forge.kind != .gitlab else { return }
        try await forge.use(session: { session in
            let issue = try #require(try await session.reader.issue(2))
            #expect(issue.title == "Crash at launch" && issue.labels == ["bug"] && issue.isOpen)
            #expect(issue.author.login == "reader" && issue.link != nil)
            #expect(try await session.reader.issue(1) == nil)
            let all = try #require(try await session.reader.issues(since: .distantPast, etag: nil))
            #expect(all.issues.map(\.number) == [2])
            var note = IssueNote(issue: 2, task: 12, body: "A plan.", isNews: true)
            let known = try await session.show(note, after: ForgePast())
            note.body = "It landed."
            #expect(try await session.show(note, after: ForgePast(isUncertain: true)) == known)
            let said = try await session.reader.issueRemarks(of: 2, since: .distantPast)
            #expect(said.map(\.isOwn) == [true] && said.first?.body.hasSuffix("It landed.") == true)
        })
        #expect(try await forge.violations() == [])
        try await forge.reset()
    }

    @Test(.timeLimit(.minutes(2)), arguments: StandIn.all)
    func `a reader's token is told what is lacking`(forge: StandIn) async throws {
        guard let reader = forge.reader else { return }
        try await forge.use(reader) { service in
            let identity = try await service.identity()
            #expect(identity.permissions.contains { !$0.isGranted && $0.remedy != nil })
        }
    }
}

/// One server, with who may use it.
struct StandIn: Sendable, CustomTestStringConvertible {
    static let head = String(repeating: "2", count: 40)
    var kind: ForgeKind
    var url: String
    var isApp = false
    var testDescription: String { isApp ? "github app" : kind.rawValue }

    static let servers: [(ForgeKind, String)] =
        (ProcessInfo.processInfo.environment["PIPECTL_FORGE_SERVERS"] ?? "").split(separator: " ").compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let kind = ForgeKind(rawValue: String(pair[0])) else { return nil }
            return (kind, String(pair[1]))
        }
    static var isThere: Bool { !servers.isEmpty }
    static let all: [StandIn] = servers.flatMap { kind, url in
        [StandIn(kind: kind, url: url)] + (kind == .github ? [StandIn(kind: kind, url: url, isApp: true)] : [])
    }

    var reader: ForgeCredential? {
        switch kind {
        case .github: isApp ? nil : .token("github_pat_reader")
        case .gitlab: .token("glpat-reader")
        case .gitea, .forgejo: .token("gitea-reader")
        }
    }

    func use(_ credential: ForgeCredential? = nil, _ body: (any ForgeService & ForgeMergeService) async throws -> Void)
        async throws
    {
        try await use(credential, session: { try await body($0.service) })
    }

    func use(_ credential: ForgeCredential? = nil, session body: (ForgeSession) async throws -> Void) async throws {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let address = try ForgeAddress(
                "\(url)/octo/hello", kind: kind, api: kind == .github ? url : nil)
            let credential = if let credential { credential } else { try await usual() }
            let session = try ForgeSession(address, credential, http: http)
            try await body(session)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    private func usual() async throws -> ForgeCredential {
        switch kind {
        case .github where isApp:
            struct Keys: Decodable { var privateKey: String }
            return .app(id: "1001", privateKey: try await control("keys", Keys.self).privateKey)
        case .github: return .token("github_pat_dev")
        case .gitlab: return .token("glpat-dev")
        case .gitea, .forgejo: return .token("gitea-dev")
        }
    }

    /// Gives the server's repository a branch.
    func seed(branch: String, at commit: String) async throws {
        let project =
            kind == .gitlab
            ? #"{"projects": {"octo/hello": {"branches": {"\#(branch)": "\#(commit)"}}}}"#
            : #"{"repos": {"octo/hello": {"refs": {"refs/heads/\#(branch)": "\#(commit)"}}}}"#
        var request = HTTPClientRequest(url: "\(url)/_control/seed")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: project))
        _ = try await HTTPClient.shared.execute(request, timeout: .seconds(20)).body.collect(upTo: 1 << 20)
    }

    /// Puts the server's state back to its beginning.
    func reset() async throws {
        var request = HTTPClientRequest(url: "\(url)/_control/reset")
        request.method = .POST
        _ = try await HTTPClient.shared.execute(request, timeout: .seconds(20)).body.collect(upTo: 1 << 20)
    }

    /// Requests that the description forbids, and answers of the server that it does.
    func violations() async throws -> [String] {
        struct Found: Decodable {
            var violations: [Entry]
            var defects: [Entry]
            struct Entry: Decodable {
                var path: String?
                var violation: [Rule]?
                struct Rule: Decodable {
                    var rule: String?
                    var message: String?
                }
            }
        }
        let found = try await control("violations", Found.self)
        // Trying a permission that is lacking is no violation: the server can't know that it is a trial. GitLab's
        // description, as the server has it, leaves out the page about a token.
        return (found.violations + found.defects).filter { entry in
            entry.path?.hasSuffix("/personal_access_tokens/self") != true
                && entry.violation?.contains { ["permission", "scope"].contains($0.rule) } != true
        }
        .map { entry in
            "\(entry.path ?? ""): \((entry.violation ?? []).compactMap(\.message).joined(separator: "; "))"
        }
    }

    /// Comments at change 1, with the one that was there before.
    func comments() async throws -> Int {
        let http = HTTPClient.shared
        let request = HTTPClientRequest(url: "\(url)/_control/state")
        let body = try await http.execute(request, timeout: .seconds(20)).body.collect(upTo: 32 << 20)
        let state = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any] ?? [:]
        let all = (state["repos"] ?? state["projects"]) as? [String: Any]
        let project = all?["octo/hello"] as? [String: Any]
        return ((project?["comments"] ?? project?["notes"]) as? [String: Any])?.count ?? -1
    }

    private func control<Value: Decodable>(_ name: String, _ type: Value.Type) async throws -> Value {
        let answer = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "\(url)/_control/\(name)"), timeout: .seconds(20))
        let body = try await answer.body.collect(upTo: 32 << 20)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: Data(body.readableBytesView))
    }
}
