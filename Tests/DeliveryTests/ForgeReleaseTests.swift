import AsyncHTTPClient
import ForgeConnection
import Foundation
import Results
import NIOCore
import NIOHTTP1
import TestBasics
import Testing

@testable import Delivery

/// Against servers that check every request against the forges' published API descriptions.
///
/// `script/publishing` starts the servers and sets `PIPECTL_FORGE_SERVERS` to `github=URL gitlab=URL …`.
@Suite(.enabled(if: !Stand.all.isEmpty, "script/publishing runs these"), .serialized)
struct ForgeReleaseTests {
    @Test(.timeLimit(.minutes(2)), arguments: Stand.all)
    func `a release is published once and whole, in spite of faults`(stand: Stand) async throws {
        try await stand.control(.POST, "reset")
        for fault in [
            #"{"kind": "cut", "times": 2, "match": {"method": "POST"}}"#,
            #"{"kind": "status", "status": 502, "times": 2, "skip": 3}"#,
            #"{"kind": "cut", "times": 1, "match": {"method": "PATCH"}}"#,
            #"{"kind": "cut", "times": 1, "match": {"method": "PUT"}}"#,
        ] { try await stand.control(.POST, "faults", fault) }
        let folder = try TemporaryFolder()
        let release = try await release(
            "2.0.0", in: folder, ["a.tar.gz": bytes(1 << 20), "b+1.deb": bytes(4_096, 2), "c d.txt": bytes(64, 3)])
        let publisher = try stand.publisher()
        let notes = Notes()
        let published = try await publisher.bring(release, notes)
        #expect(published.state == .released)
        #expect(try await publisher.bring(release, notes) == published)
        // Somebody who has lost the notes finds the same, where the server shows the content of files.
        if stand.showsContent { #expect(try await publisher.bring(release) == published) }
        #expect(try await stand.releases("v2.0.0") == 1)
        #expect(try await stand.violations() == 0)
        let other = try await DeliveryTests.release("2.0.0", in: folder, ["a.tar.gz": bytes(1 << 20, 9)])
        // Nothing is concluded from a file that can't be read.
        #expect(try await publisher.failure(other) == (stand.showsContent ? .conflict : .unreachable))
    }

    @Test(.timeLimit(.minutes(2)), arguments: Stand.all)
    func `a tag at another commit is not taken for the release's`(stand: Stand) async throws {
        try await stand.control(.POST, "reset")
        let folder = try TemporaryFolder()
        let release = try await release("2.2.0", in: folder, ["a": bytes(64)])
        try await stand.tag("v2.2.0", at: String(repeating: "1", count: 40))
        #expect(try await stand.publisher().checkFailure(tag: "v2.2.0", at: release.commit) == .conflict)
        #expect(try await stand.publisher().failure(release) == .conflict)
        #expect(try await stand.releases("v2.2.0") == 0)
        #expect(try await stand.violations() == 0)
        // One at the right commit is used.
        let next = try await DeliveryTests.release("2.3.0", in: folder, ["a": bytes(64)])
        #expect(try await stand.publisher().checkFailure(tag: "v2.3.0", at: next.commit) == nil)
        try await stand.tag("v2.3.0", at: next.commit)
        #expect(try await stand.publisher().checkFailure(tag: "v2.3.0", at: next.commit) == nil)
        #expect(try await stand.publisher().bring(next).state == .released)
    }

    @Test(.timeLimit(.minutes(2)), arguments: Stand.all)
    func `a token that may only read is refused`(stand: Stand) async throws {
        try await stand.control(.POST, "reset")
        let folder = try TemporaryFolder()
        let release = try await release("2.1.0", in: folder, ["a": bytes(64)])
        let publisher = try stand.publisher(stand.reader)
        // The others tell a person's role, but not what a token is for, which `forge connect` has tried.
        let known = stand.kind == .github ? DeliveryProblem.Code.refused : nil
        #expect(try await publisher.checkFailure(tag: release.tag, at: release.commit) == known)
        #expect(try await publisher.failure(release) == .refused)
    }
}

/// One server.
struct Stand: Sendable, CustomTestStringConvertible {
    var kind: ForgeKind
    var url: String
    var testDescription: String { kind.rawValue }

    static let all: [Stand] =
        (ProcessInfo.processInfo.environment["PIPECTL_FORGE_SERVERS"] ?? "").split(separator: " ").compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let kind = ForgeKind(rawValue: String(pair[0])) else { return nil }
            return Stand(kind: kind, url: String(pair[1]))
        }

    var token: String { kind == .github ? "github_pat_dev" : kind == .gitlab ? "glpat-dev" : "gitea-dev" }
    var reader: String { kind == .github ? "github_pat_reader" : kind == .gitlab ? "glpat-reader" : "gitea-reader" }

    func publisher(_ other: String? = nil) throws -> ForgeReleasePublisher {
        ForgeReleasePublisher(
            access: ForgeAccess(
                address: try ForgeAddress("\(url)/octo/hello", kind: kind, api: kind == .github ? url : nil),
                credential: .token(other ?? token)), isDraft: false, isPrerelease: false,
            patience: Patience(most: .seconds(60), first: .milliseconds(10), attempts: 20))
    }

    @discardableResult
    func control(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> Data {
        var request = HTTPClientRequest(url: "\(url)/_control/\(path)")
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
        #expect(answer.status.code < 300)
        return Data(try await answer.body.collect(upTo: 64 << 20).readableBytesView)
    }

    /// Whether the address that it gives of a file leads anywhere: the servers of Gitea and Forgejo answer 404 there.
    var showsContent: Bool { kind == .github || kind == .gitlab }

    func violations() async throws -> Int {
        let found = try JSONSerialization.jsonObject(with: await control(.GET, "violations")) as? [String: Any] ?? [:]
        let all = ["violations", "defects"].flatMap { found[$0] as? [[String: Any]] ?? [] }.filter {
            showsContent || ($0["path"] as? String)?.hasPrefix("/attachments/") != true
        }
        for one in all { Issue.record("\(one)") }
        return all.count
    }

    /// Makes a tag, as its owner would.
    func tag(_ name: String, at commit: String) async throws {
        let (path, body) =
            switch kind {
            case .github: ("repos/octo/hello/git/refs", ["ref": "refs/tags/\(name)", "sha": commit])
            case .gitlab: ("api/v4/projects/octo%2Fhello/repository/tags", ["tag_name": name, "ref": commit])
            case .gitea, .forgejo: ("api/v1/repos/octo/hello/tags", ["tag_name": name, "target": commit])
            }
        var request = HTTPClientRequest(url: "\(url)/\(path)")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "owner")
        request.headers.add(name: "authorization", value: kind == .gitea ? "token \(token)" : "Bearer \(token)")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
        #expect((200..<300).contains(answer.status.code))
    }

    /// How many releases there are of a tag.
    func releases(_ tag: String) async throws -> Int {
        let state = try JSONSerialization.jsonObject(with: await control(.GET, "state")) as? [String: Any] ?? [:]
        let projects = (state["repos"] ?? state["projects"]) as? [String: Any]
        let all = (projects?["octo/hello"] as? [String: Any])?["releases"] as? [String: Any] ?? [:]
        return all.values.filter { ($0 as? [String: Any])?["tag_name"] as? String == tag }.count
            + (all[tag] != nil && (all[tag] as? [String: Any])?["tag_name"] == nil ? 1 : 0)
    }
}
