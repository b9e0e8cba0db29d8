@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import Foundation
import Synchronization
import Testing

@testable import Forges

/// A forge with one change, which answers the order to merge with `order` and describes the change as `state` says.
private struct MergePlace {
    var kind: ForgeKind
    /// What the order to merge is answered with.
    var order: ForgeDouble.Answer
    var isMerged = false
    var head = MergePlace.tested
    var isMergeable: Bool? = true
    var isOpen = true
    /// What a look-up is answered with, in place of the change.
    var lookUp: ForgeDouble.Answer?

    static let tested = String(repeating: "a", count: 40)
    static let landed = String(repeating: "b", count: 40)

    func merge(_ method: ForgeMerge.Method = .squash) async throws -> (ForgeMerged, [ForgeDouble.Asked]) {
        try await ask(method) { try await $0.merge($1) }
    }

    /// What the forge says about the change, without an order.
    func lookedUp() async throws -> (ForgeMerged?, [ForgeDouble.Asked]) {
        try await ask { try await $0.merged($1) }
    }

    private func ask<Answer: Sendable>(
        _ method: ForgeMerge.Method = .squash,
        _ body: (any ForgeMergeService, ForgeMerge) async throws -> Answer
    ) async throws -> (Answer, [ForgeDouble.Asked]) {
        let double = try await ForgeDouble { asked in
            if asked.method != "GET" { return order }
            return lookUp ?? .json(200, change)
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let result: Result<Answer, any Error>
        do {
            let address = try ForgeAddress(
                "\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
            let service = try ForgeSession(address, .token("token-123"), http: http).service
            result = .success(
                try await body(
                    service,
                    ForgeMerge(change: 7, head: Self.tested, method: method, title: "Greet", message: "Why")))
        } catch { result = .failure(error) }
        try await http.shutdown()
        try await double.close()
        return (try result.get(), double.requests)
    }

    private var change: String {
        let commit = isMerged ? "\"\(Self.landed)\"" : "null"
        return kind == .gitlab
            ? """
            {"state": "\(isMerged ? "merged" : isOpen ? "opened" : "closed")", "sha": "\(head)", "merge_commit_sha": \(commit),
             "has_conflicts": \(isMergeable.map { "\(!$0)" } ?? "null"), "draft": false}
            """
            : """
            {"state": "\(isMerged || !isOpen ? "closed" : "open")", "merged": \(isMerged), "merge_commit_sha": \(commit),
             "mergeable": \(isMergeable.map { "\($0)" } ?? "null"), "draft": false, "head": {"sha": "\(head)"}}
            """
    }

    /// What this kind of forge answers to an order that it carried out.
    static func done(_ kind: ForgeKind) -> ForgeDouble.Answer {
        switch kind {
        case .github: .json(200, #"{"sha": "\#(landed)", "merged": true, "message": "ok"}"#)
        case .gitlab: .json(200, #"{"state": "merged", "sha": "\#(tested)", "merge_commit_sha": "\#(landed)"}"#)
        case .gitea, .forgejo: .json(200, "")
        }
    }
}

@Suite struct MergeTests {
    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases, ForgeMerge.Method.allCases)
    func `the order names the tested head, and the landed commit comes back`(
        kind: ForgeKind, method: ForgeMerge.Method
    ) async throws {
        let place = MergePlace(kind: kind, order: MergePlace.done(kind), isMerged: true)
        let (merged, requests) = try await place.merge(method)
        #expect(merged.commit == MergePlace.landed)
        let order = try #require(requests.first)
        #expect((order.json["sha"] ?? order.json["head_commit_id"]) == MergePlace.tested)
        #expect(order.path.hasSuffix("/7/merge"))
        switch kind {
        case .github: #expect(order.json["merge_method"] == method.rawValue)
        case .gitea, .forgejo: #expect(order.json["Do"] == method.rawValue)
        case .gitlab: #expect(order.body.contains("\"squash\":\(method == .squash)"))
        }
        #expect(requests.count == (kind == .github || kind == .gitlab ? 1 : 2))
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `a change that an earlier order merged is not merged again`(kind: ForgeKind) async throws {
        for answer in [ForgeDouble.Answer.json(405, #"{"message": "not mergeable"}"#), .cut] {
            let (merged, _) = try await MergePlace(kind: kind, order: answer, isMerged: true).merge()
            #expect(merged.commit == MergePlace.landed)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `a look-up merges nothing`(kind: ForgeKind) async throws {
        let order = MergePlace.done(kind)
        for isMerged in [false, true] {
            let (found, requests) = try await MergePlace(kind: kind, order: order, isMerged: isMerged).lookedUp()
            #expect(found?.commit == (isMerged ? MergePlace.landed : nil))
            #expect(requests.allSatisfy { $0.method == "GET" })
        }
        let other = String(repeating: "c", count: 40)
        let cases: [(MergePlace, ForgeMergeError.Code)] = [
            (MergePlace(kind: kind, order: order, isMerged: true, head: other), .headMoved),
            (MergePlace(kind: kind, order: order, lookUp: .json(403, "{}")), .notAllowed),
            (MergePlace(kind: kind, order: order, lookUp: .json(404, "{}")), .notAllowed),
            (MergePlace(kind: kind, order: order, lookUp: .json(502, "{}")), .notNow),
            (MergePlace(kind: kind, order: order, lookUp: .cut), .notNow),
        ]
        for (number, (place, code)) in cases.enumerated() {
            let error = await #expect(throws: ForgeMergeError.self, "case \(number)") { try await place.lookedUp() }
            #expect(error?.code == code, "case \(number): \(error?.description ?? "")")
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ForgeKind.allCases)
    func `each failure has its own code`(kind: ForgeKind) async throws {
        let other = String(repeating: "c", count: 40)
        let refused = ForgeDouble.Answer.json(405, #"{"message": "no"}"#)
        let cases: [(MergePlace, ForgeMergeError.Code)] = [
            (MergePlace(kind: kind, order: .json(409, "{}"), head: other), .headMoved),
            // Merged by somebody else, at another head.
            (MergePlace(kind: kind, order: refused, isMerged: true, head: other), .headMoved),
            (MergePlace(kind: kind, order: refused, isMergeable: false), .notMergeable),
            (MergePlace(kind: kind, order: refused), .notAllowed),
            (MergePlace(kind: kind, order: refused, isMergeable: nil), .notNow),
            (MergePlace(kind: kind, order: .json(403, "{}")), .notAllowed),
            (MergePlace(kind: kind, order: .json(403, "{}"), lookUp: .json(403, "{}")), .notAllowed),
            (MergePlace(kind: kind, order: .json(502, "{}")), .notNow),
            (MergePlace(kind: kind, order: .json(429, "{}", headers: ["retry-after": "30"])), .notNow),
            (MergePlace(kind: kind, order: .cut, lookUp: .cut), .unknownEnd),
            (MergePlace(kind: kind, order: .json(200, "not JSON"), lookUp: .json(200, "{}")), .unknownEnd),
        ]
        for (number, (place, code)) in cases.enumerated() {
            let error = await #expect(throws: ForgeMergeError.self, "case \(number)") { try await place.merge() }
            #expect(error?.code == code, "case \(number): \(error?.description ?? "")")
        }
    }

    /// What each kind of forge answers to an order that names an older head, with its own status and words.
    private static let movedAnswers: [(ForgeKind, Int, String)] = [
        (.github, 409, "Head branch was modified. Review and try the merge again."),
        (.gitlab, 409, "SHA does not match HEAD of source branch: c"), (.gitea, 409, "head out of date"),
        (.forgejo, 409, "head out of date"), (.gitea, 405, "Please try again later"),
        (.forgejo, 405, "Please try again later"), (.github, 405, "Base branch was modified."),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: movedAnswers)
    func `a head that moved is told as that, whatever the forge answers`(
        kind: ForgeKind, status: Int, words: String
    ) async throws {
        let other = String(repeating: "c", count: 40)
        let order = ForgeDouble.Answer.json(status, #"{"message": "\#(words)"}"#)
        let error = await #expect(throws: ForgeMergeError.self) {
            try await MergePlace(kind: kind, order: order, head: other).merge()
        }
        #expect(error?.code == .headMoved)
        // The order named the tested head, and nothing was merged: a second one is answered alike.
        let again = await #expect(throws: ForgeMergeError.self) {
            try await MergePlace(kind: kind, order: order, head: other, isMergeable: false).merge()
        }
        #expect(again?.code == .headMoved)
    }

    /// What each kind of forge answers where a change conflicts, is a draft or is closed.
    private static let refusals: [(ForgeKind, Int, String)] = [
        (.github, 405, "Pull Request is not mergeable"), (.github, 409, "Merge conflict"),
        (.gitlab, 405, "405 Method Not Allowed"), (.gitlab, 406, "Branch cannot be merged"),
        (.gitlab, 422, "Branch cannot be merged"), (.gitea, 405, "The PR is not ready"),
        (.gitea, 409, "merge conflict"), (.forgejo, 405, "The PR is a work in progress"),
        (.forgejo, 409, "merge conflict"),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: refusals)
    func `a change that can't be merged is told as that, and one that still may be is asked again`(
        kind: ForgeKind, status: Int, words: String
    ) async throws {
        let order = ForgeDouble.Answer.json(status, #"{"message": "\#(words)"}"#)
        let codes: [(Bool?, ForgeMergeError.Code)] = [(false, .notMergeable), (nil, .notNow), (true, .notAllowed)]
        for (isMergeable, code) in codes {
            let error = await #expect(throws: ForgeMergeError.self) {
                try await MergePlace(kind: kind, order: order, isMergeable: isMergeable).merge()
            }
            #expect(error?.code == code)
            // What a person reads has the forge's own words.
            #expect(error?.description.contains(words) == true)
        }
        let closed = MergePlace(kind: kind, order: order, isOpen: false)
        let error = await #expect(throws: ForgeMergeError.self) { try await closed.merge() }
        #expect(error?.code == .notMergeable)
    }
}
