import ForgeConnection
import TestBasics
import TestForge
import Testing

@testable import Delivery

/// What a forge is asked before a release is made, and before its first change there.
struct ForgeCheckTests {
    private static let commit = String(repeating: "2", count: 40)
    private static let other = String(repeating: "1", count: 40)

    /// A forge whose only tag is at `tagged`, and which has no release and no commit.
    private static func answer(
        _ request: ForgeDouble.Asked, tagged: String?, mayPush: Bool = true
    ) -> ForgeDouble.Answer {
        let path = String(request.path.split(separator: "?").first ?? "")
        let tag = tagged.map { (lone: #"{"commit": {"sha": "\#($0)"}}"#, id: $0) }
        switch path {
        case "/repos/octo/hello", "/api/v1/repos/octo/hello":
            return .json(200, #"{"permissions": {"push": \#(mayPush)}}"#, headers: ["x-oauth-scopes": "repo"])
        case "/api/v4/projects/octo%2Fhello":
            return .json(200, #"{"permissions": {"project_access": {"access_level": \#(mayPush ? 30 : 20)}}}"#)
        case "/repos/octo/hello/git/ref/tags/v1.0.0":
            guard let tag else { return .json(404, "{}") }
            return .json(200, #"{"object": {"type": "commit", "sha": "\#(tag.id)"}}"#)
        case "/api/v1/repos/octo/hello/tags/v1.0.0":
            guard let tag else { return .json(404, "{}") }
            return .json(200, tag.lone)
        case "/api/v4/projects/octo%2Fhello/repository/tags":
            return .json(200, "[\(tag.map { #"{"name": "v1.0.0", "commit": {"id": "\#($0.id)"}}"# } ?? "")]")
        case "/repos/octo/hello/commits/\(commit)": return .json(422, #"{"message": "No commit found for SHA"}"#)
        case _ where request.method == "GET" && path.hasSuffix("/releases"): return .json(200, "[]")
        default: return .json(404, "{}")
        }
    }

    private func publisher(
        _ kind: ForgeKind, _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer
    ) async throws -> (ForgeReleasePublisher, ForgeDouble) {
        let double = try await ForgeDouble(answer)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
        var publisher = ForgeReleasePublisher(
            access: ForgeAccess(address: address, credential: .token("x")), isDraft: false, isPrerelease: false,
            patience: impatient)
        publisher.checkTime = .seconds(30)
        return (publisher, double)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.github, .gitlab, .gitea])
    func `a tag that the forge has at another commit is found before the release is made`(kind: ForgeKind) async throws
    {
        for (tagged, code) in [(Self.other, .conflict), (Self.commit, nil), (nil, nil)]
            as [(String?, DeliveryProblem.Code?)]
        {
            let (publisher, double) = try await publisher(kind) { Self.answer($0, tagged: tagged) }
            #expect(try await publisher.checkFailure(tag: "v1.0.0", at: Self.commit) == code)
            #expect(double.requests.count == 2 && double.requests.allSatisfy { $0.method == "GET" })
            try await double.close()
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.github, .gitlab, .gitea])
    func `a right that is missing is found before the release is made`(kind: ForgeKind) async throws {
        let (publisher, double) = try await publisher(kind) { Self.answer($0, tagged: nil, mayPush: false) }
        #expect(try await publisher.checkFailure(tag: "v1.0.0", at: Self.commit) == .refused)
        try await double.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a forge that does not answer ends no run, and a wrong credential does`() async throws {
        let answers: [(ForgeDouble.Answer, DeliveryProblem.Code?)] = [
            (.silence, nil), (.cut, nil), (.json(502, "{}"), nil), (.json(401, "{}"), .refused),
        ]
        for (answer, code) in answers {
            var (publisher, double) = try await publisher(.github) { _ in answer }
            if case .silence = answer { publisher.checkTime = .milliseconds(50) }
            #expect(try await publisher.checkFailure(tag: "v1.0.0", at: Self.commit) == code)
            try await double.close()
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.github, .gitlab, .gitea])
    func `nothing is made at a forge that does not have the commit`(kind: ForgeKind) async throws {
        let folder = try TemporaryFolder()
        let release = try await release("1.0.0", in: folder, ["a": bytes(64)])
        let (publisher, double) = try await publisher(kind) { Self.answer($0, tagged: nil) }
        #expect(try await publisher.failure(release) == .invalid)
        #expect(double.requests.allSatisfy { $0.method == "GET" })
        #expect(double.requests.last?.path.contains("/commits/\(release.commit)") == true)
        try await double.close()
    }
}
