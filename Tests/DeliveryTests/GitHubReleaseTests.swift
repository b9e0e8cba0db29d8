import ForgeConnection
import Foundation
import Results
import Synchronization
import TestBasics
import TestForge
import Testing

@testable import Delivery

struct GitHubReleaseTests {
    @Test(.timeLimit(.minutes(1)))
    func `a tag that somebody else publishes at the same moment is looked at again`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": Array("a".utf8), "b": Array("b".utf8)])
        let forge = GitHubInMemory(release)
        // Another daemon's draft of the same release is published right before ours.
        forge.state.withLock { $0.overtaken = true }
        let published = try await forge.publisher().bring(release)
        #expect(published.state == .released)
        let left = forge.state.withLock { $0.releases }
        #expect(left.map(\.isDraft) == [false])
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("1.10.0", false, "true"), ("2.0.0-rc.1", true, "false"), ("1.9.1", false, "false"),
            ("1.10.0-2026", false, "true"), ("spring", false, "false"),
        ] as [(String, Bool, String)])
    func `the highest version is the latest, and a candidate is a prerelease`(
        version: String, isPrerelease: Bool, latest: String
    ) async throws {
        let folder = try TemporaryFolder()
        let release = try await release(version, in: folder, ["a": Array("a".utf8)])
        let forge = GitHubInMemory(release)
        forge.state.withLock { state in
            state.releases = [
                .init(id: 1, tag: "v1.9.9", isDraft: false), .init(id: 2, tag: "v3.0.0", isDraft: true),
                .init(id: 3, tag: "v2.0.0", isDraft: false, isPrerelease: true),
                .init(id: 4, tag: "v2.0.0-beta.1", isDraft: false), .init(id: 5, tag: "tool-v9.0.0", isDraft: false),
            ]
        }
        try await forge.publisher().bring(release)
        let made = try #require(forge.state.withLock { state in state.releases.first { $0.tag == release.tag } })
        #expect(!made.isDraft && made.isPrerelease == isPrerelease && made.latest == latest)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a release that is withdrawn on its way stays a draft`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": Array("a".utf8)])
        let forge = GitHubInMemory(release)
        #expect(try await forge.publisher().failure(release, Withdrawn()) == .conflict)
        #expect(forge.state.withLock { $0.releases.map(\.isDraft) } == [true])
    }
}

/// The releases of GitHub, as far as a publisher asks for them.
final class GitHubInMemory: Sendable {
    struct Release: Sendable {
        var id: Int
        var tag: String
        var body = ""
        var isDraft = true
        var isPrerelease = false
        var latest: String?
        var assets: [String: Int] = [:]
    }

    struct State: Sendable {
        var releases: [Release] = []
        /// Whether the next draft that is published finds its tag taken.
        var overtaken = false
    }

    let state = Mutex(State())
    /// The digests of the files, by name.
    private let digests: [String: String]

    init(_ release: ReleaseContent) {
        digests = Dictionary(uniqueKeysWithValues: release.files.map { ($0.name, $0.sha256) })
    }

    func publisher() async throws -> ForgeReleasePublisher {
        let server = try await ForgeDouble { [self] in answer($0) }
        return ForgeReleasePublisher(
            access: ForgeAccess(
                address: try ForgeAddress("\(server.url)/octo/hello", kind: .github, api: server.url),
                credential: .token("github_pat_x")), isDraft: false, isPrerelease: false, patience: impatient)
    }

    private func answer(_ request: ForgeDouble.Asked) -> ForgeDouble.Answer {
        let host = "http://\(request.headers["host"] ?? "")"
        let path = (request.path.split(separator: "?").first ?? "").split(separator: "/").map(String.init)
        let query = URLComponents(string: request.path)?.queryItems ?? []
        let fields = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8))) as? [String: Any] ?? [:]
        return state.withLock { state in
            func place(_ at: Int) -> Int? {
                path.count > at ? state.releases.firstIndex { "\($0.id)" == path[at] } : nil
            }
            switch (request.method, path.count) {
            case ("GET", 4): return .json(200, "[\(state.releases.map { json($0, host) }.joined(separator: ","))]")
            case ("GET", 5) where path[3] == "commits": return .json(200, "{}")
            case ("POST", 4):
                let id = (state.releases.map(\.id).max() ?? 0) + 1
                state.releases.append(
                    Release(id: id, tag: fields["tag_name"] as? String ?? "", body: fields["body"] as? String ?? ""))
                return .json(201, json(state.releases[state.releases.count - 1], host))
            case ("PATCH", 5):
                guard let at = place(4) else { return .json(404, "{}") }
                if state.overtaken {
                    state.overtaken = false
                    var other = state.releases[at]
                    (other.id, other.isDraft) = (99, false)
                    state.releases.append(other)
                    return .json(
                        422,
                        #"{"message": "Validation Failed", "errors": [{"resource": "Release", "code": "already_exists", "field": "tag_name"}]}"#
                    )
                }
                state.releases[at].isDraft = fields["draft"] as? Bool ?? true
                state.releases[at].isPrerelease = fields["prerelease"] as? Bool ?? false
                state.releases[at].latest = fields["make_latest"] as? String
                return .json(200, json(state.releases[at], host))
            case ("DELETE", 5):
                state.releases.removeAll { "\($0.id)" == path[4] }
                return .json(204, "")
            case ("GET", 6) where path[3] == "releases":
                guard let at = place(4) else { return .json(404, "{}") }
                return .json(200, "[\(state.releases[at].assets.map(json).joined(separator: ","))]")
            case ("POST", 6):
                guard let at = place(4), let name = query.first(where: { $0.name == "name" })?.value else {
                    return .json(404, "{}")
                }
                state.releases[at].assets[name] = request.body.utf8.count
                return .json(201, json((name, request.body.utf8.count)))
            default: return .json(404, "{}")
            }
        }
    }

    private func json(_ release: Release, _ host: String) -> String {
        let fields: [String: Any] = [
            "id": release.id, "tag_name": release.tag, "body": release.body, "draft": release.isDraft,
            "prerelease": release.isPrerelease,
            "upload_url": "\(host)/repos/octo/hello/releases/\(release.id)/assets{?name,label}",
        ]
        let data = try? JSONSerialization.data(withJSONObject: fields)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    private func json(_ asset: (key: String, value: Int)) -> String {
        """
        {"id": \(asset.key.utf8.first ?? 0), "name": "\(asset.key)", "size": \(asset.value), "state": "uploaded",
         "digest": "sha256:\(digests[asset.key] ?? "")"}
        """
    }
}
