@testable import ForgeConnection
import Diagnostics
import TestForge
import AsyncHTTPClient
import Foundation
import Pipeline
import Reports
import Results
import Synchronization
import TestSupport
import Testing

@testable import Forges

/// Keeps reviews and discussions as the three kinds of forges do.
private final class ReviewForge: Sendable {
    struct Remark: Sendable, Equatable {
        var id: Int
        var body: String
        var line: Int?
        var isResolved = false
    }
    private struct State: Sendable {
        var remarks: [Remark] = []
        var reviews: [Int: String] = [:]
        var writes = 0
        /// What the next writes are answered with, after they took effect.
        var faults: [ForgeDouble.Answer] = []
        var refusesLines = false
    }
    private let state = Mutex(State())
    let kind: ForgeKind
    let head: String

    init(_ kind: ForgeKind, head: String) { (self.kind, self.head) = (kind, head) }

    var remarks: [Remark] { state.withLock { $0.remarks } }
    var reviews: [String] { state.withLock { $0.reviews.sorted { $0.key < $1.key }.map(\.value) } }
    var writes: Int { state.withLock { $0.writes } }
    func fail(next faults: ForgeDouble.Answer...) { state.withLock { $0.faults = faults } }
    func refuseLines() { state.withLock { $0.refusesLines = true } }
    /// A person copies what pipectl wrote.
    func copy() {
        state.withLock { state in
            guard let first = state.remarks.first else { return }
            state.remarks.append(Remark(id: 900 + state.remarks.count, body: first.body))
        }
    }

    func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        state.withLock { state in
            guard asked.method != "GET" else { return Self.read(asked, kind, head, state) }
            state.writes += 1
            let answer = write(asked, &state)
            return state.faults.isEmpty ? answer : state.faults.removeFirst()
        }
    }

    private func write(_ asked: ForgeDouble.Asked, _ state: inout State) -> ForgeDouble.Answer {
        let body = (try? JSONSerialization.jsonObject(with: Data(asked.body.utf8))) as? [String: Any] ?? [:]
        if asked.method == "POST" {
            let comments = body["comments"] as? [[String: Any]] ?? []
            let position = body["position"] as? [String: Any]
            if state.refusesLines, !comments.isEmpty || position != nil {
                return .json(422, #"{"message": "no line"}"#)
            }
            let id = 100 * (state.reviews.count + 1)
            if kind == .gitlab {
                let made = Remark(
                    id: 1 + state.remarks.count, body: body["body"] as? String ?? "",
                    line: position?["new_line"] as? Int)
                state.remarks.append(made)
                return .json(201, Self.discussion(made))
            }
            state.reviews[id] = body["body"] as? String ?? ""
            for (offset, comment) in comments.enumerated() {
                state.remarks.append(
                    Remark(
                        id: id + 1 + offset, body: comment["body"] as? String ?? "",
                        line: comment["line"] as? Int ?? comment["new_position"] as? Int))
            }
            return .json(200, #"{"id": \#(id)}"#)
        }
        let id = asked.path.split(separator: "/").last.flatMap { Int($0.drop { $0 == "d" }) }
        guard let place = state.remarks.firstIndex(where: { $0.id == id }) else { return .json(404, "{}") }
        if let text = body["body"] as? String { state.remarks[place].body = text }
        if let resolved = body["resolved"] as? Bool { state.remarks[place].isResolved = resolved }
        return .json(200, "{}")
    }

    private static func read(_ asked: ForgeDouble.Asked, _ kind: ForgeKind, _ head: String, _ state: State)
        -> ForgeDouble.Answer
    {
        let path = asked.path.split(separator: "?")[0]
        if kind == .gitlab {
            return path.hasSuffix("/discussions")
                ? .json(200, "[\(state.remarks.map(discussion).joined(separator: ","))]")
                : .json(200, #"{"diff_refs": {"base_sha": "b", "start_sha": "s", "head_sha": "\#(head)"}}"#)
        }
        if path.hasSuffix("/reviews") {
            let all = state.reviews.map { #"{"id": \#($0.key), "body": \#(quoted($0.value)), "comments_count": 9}"# }
            return .json(200, "[\(all.joined(separator: ","))]")
        }
        let review = path.contains("/reviews/") ? path.split(separator: "/").dropLast().last.flatMap { Int($0) } : nil
        let found = state.remarks.filter { review == nil || $0.id / 100 * 100 == review }
        return .json(
            200, "[\(found.map { #"{"id": \#($0.id), "body": \#(quoted($0.body))}"# }.joined(separator: ","))]")
    }

    private static func discussion(_ remark: Remark) -> String {
        """
        {"id": "d\(remark.id)", "notes": [{"id": \(remark.id), "body": \(quoted(remark.body)),
         "resolved": \(remark.isResolved)}]}
        """
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}

@Suite struct ReviewTests {
    private static let head = String(repeating: "a", count: 40)

    private func with(
        _ kind: ForgeKind, _ body: (ReviewForge, any ForgeService) async throws -> Void
    ) async throws {
        let forge = ReviewForge(kind, head: Self.head)
        let double = try await ForgeDouble { forge.answer($0) }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let address = try ForgeAddress(
                "\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
            try await body(forge, ForgeSession(address, .token("token-123"), http: http).service)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }

    private func remark(_ number: Int, line: Int? = nil, isSettled: Bool = false, replacement: String? = nil)
        -> ReviewState.Remark
    {
        ReviewState.Remark(
            fingerprint: "f\(number)",
            place: line.map { ChangeDelta.Place(path: "a.swift", oldPath: "a.swift", line: $0) },
            text: "finding \(number)", replacement: replacement, isSettled: isSettled)
    }

    private func state(_ remarks: ReviewState.Remark...) -> ReviewState {
        ReviewState(change: 7, commit: Self.head, remarks: remarks)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `a finding is said once, settled when it is mended, and opened again`(kind: ForgeKind) async throws {
        try await with(kind) { forge, service in
            var known = try await service.show(state(remark(1, line: 3), remark(2, line: 9)), after: ForgePast())
            #expect(forge.remarks.map(\.line) == [3, 9])
            if kind != .gitlab { #expect(forge.reviews.count == 1) }
            var writes = forge.writes
            // The next push brings nothing new.
            known = try await service.show(
                state(remark(1, line: 5), remark(2, line: 9)), after: ForgePast(known: known))
            #expect(forge.writes == writes)
            known = try await service.show(
                state(remark(1, isSettled: true), remark(2, line: 9), remark(3, isSettled: true)),
                after: ForgePast(known: known))
            #expect(forge.writes == writes + 1)
            let settled = try #require(forge.remarks.first)
            #expect(kind == .gitlab ? settled.isResolved : settled.body.contains("\n✓ settled by `aaaaaaaaaa`"))
            writes = forge.writes
            known = try await service.show(
                state(remark(1, line: 5), remark(2, line: 9)), after: ForgePast(known: known))
            #expect(forge.writes == writes + 1)
            #expect(forge.remarks.allSatisfy { !$0.isResolved && !$0.body.contains("✓") })
            #expect(forge.remarks.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `an answer that was lost makes nothing twice`(kind: ForgeKind) async throws {
        try await with(kind) { forge, service in
            forge.fail(next: .cut)
            let wanted = state(remark(1, line: 3), remark(2))
            await #expect(throws: ForgeError.self) { try await service.show(wanted, after: ForgePast()) }
            forge.copy()
            let remarks = forge.remarks.count
            let known = try await service.show(wanted, after: ForgePast(isUncertain: true))
            let isSaidAgain = forge.remarks.count - remarks
            // GitLab takes one request for each, of which the second had not been sent.
            #expect(isSaidAgain == (kind == .gitlab ? 1 : 0))
            #expect(forge.reviews.count == (kind == .gitlab ? 0 : 1))
            // What is settled is pipectl's own comment, not the copy.
            _ = try await service.show(state(remark(1, isSettled: true)), after: ForgePast(known: known))
            let first = try #require(forge.remarks.first)
            #expect(first.isResolved || first.body.contains("✓"))
            #expect(forge.remarks.dropFirst().allSatisfy { !$0.isResolved && !$0.body.contains("✓") })
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.github, .gitlab])
    func `where the forge refuses a line, the finding is said without one`(kind: ForgeKind) async throws {
        try await with(kind) { forge, service in
            forge.refuseLines()
            _ = try await service.show(state(remark(1, line: 3)), after: ForgePast())
            let said = kind == .gitlab ? forge.remarks.map(\.body) : forge.reviews
            #expect(said.count == 1 && said[0].contains("finding 1"))
            #expect(forge.remarks.allSatisfy { $0.line == nil })
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.github, .gitlab])
    func `new text for the lines becomes a suggestion that nothing in it can end`(kind: ForgeKind) async throws {
        try await with(kind) { forge, service in
            var one = remark(1, line: 9, replacement: "let a = 1\n```\n@octo/everyone")
            one.linesBefore = 2
            _ = try await service.show(state(one), after: ForgePast())
            let body = try #require(forge.remarks.first?.body)
            let fence = kind == .gitlab ? "````suggestion:-2+0\n" : "````suggestion\n"
            #expect(body.hasSuffix("\(fence)let a = 1\n```\n@octo/everyone\n````"))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `many findings become reviews within the forge's limits`() async throws {
        try await with(.github) { forge, service in
            let remarks = (1...130).map { remark($0, line: $0) }
            _ = try await service.show(ReviewState(change: 7, commit: Self.head, remarks: remarks), after: ForgePast())
            #expect(forge.remarks.count == 130 && forge.reviews.count == 3)
        }
    }

    @Test func `a finding of a reviewer is escaped, placed, and not annotated as well`() throws {
        let text = "@octo/everyone closes #1 </details><script>"
        var report = Sample.report(3)
        report.head = Self.head
        report.change = Change(
            name: "7", head: Self.head, target: "main", targetCommit: String(repeating: "b", count: 40), title: "t",
            author: "a")
        var step = StepRecord(name: "review", command: "r", status: .failed)
        let finding = ReviewFinding(
            fingerprint: "f", severity: .error, rule: "r", message: text, file: "a.swift", line: 3, suggestion: text,
            replacement: "x", head: Self.head)
        step.review = ReviewRecord(head: Self.head, since: nil, findings: [finding])
        report.steps = [step]
        report.findings = [
            Finding(rule: "review/r", severity: .error, message: text, file: "a.swift", line: 3, suggestion: text)
        ]
        let delta = ChangeDelta(change: [
            ChangeDelta.Hunk(path: "a.swift", oldPath: "a.swift", oldStart: 2, newStart: 2, text: " two\n+three")
        ])
        let summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: Self.head, state: .ended, verdict: .failed, createdAt: Date())
        let document = ReportDocument(report: report)
        let facts = ForgeRunFacts(summary: summary, document: document, delta: delta)
        let review = try #require(ReviewRenderer.review(7, head: Self.head, runs: [facts]))
        let remark = try #require(review.remarks.first)
        #expect(remark.place?.line == 3 && remark.replacement == "x" && !remark.isSettled)
        // All of the foreign text is in code spans.
        #expect(remark.text.components(separatedBy: "`\(text)`").count == 3)
        #expect(CheckRenderer.annotations(document, delta).isEmpty)
        #expect(CheckRenderer.annotations(document).count == 1)
    }
}
