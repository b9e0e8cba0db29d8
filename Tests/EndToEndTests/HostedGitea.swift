import Crypto
import Foundation
import Synchronization
import TestBasics
import TestForge
import TestSupport

/// A Gitea with the repository of a bench: it knows its changes, and merges them into it with Git.
final class HostedGitea: Sendable {
    struct Comment: Sendable, Equatable {
        var id: Int
        var change: Int
        var body: String
        var author: String
    }

    struct Pull: Sendable {
        var head: String
        var labels: [String] = []
        /// The commit as which it is merged.
        var merged: String?
        /// The repository that it comes from, if that is another one.
        var fork: String?
        /// Whether it can be merged, as the forge sees it.
        var isMergeable = true
        var updates = 0
    }

    private struct State {
        var pulls: [Int: Pull] = [:]
        var comments: [Comment] = []
        var reactions: [Int: String] = [:]
        var merges = 0
        var beforeMerge: (@Sendable () -> Void)?
        var afterMerge: (@Sendable () -> Void)?
        var refusesMerges = false
        /// So many orders to merge are answered as by a forge that is down.
        var brokenMerges = 0
    }

    static let token = "token-of-a-bot"
    private let state = Mutex(State())
    private let repository: String
    private let environment: [String: String]

    init(_ bench: Bench) { (repository, environment) = (bench.repository, bench.environment) }

    // MARK: What tests do and see

    /// People do something with a change.
    func change(_ number: Int, _ body: (inout Pull) -> Void) {
        state.withLock { state in
            guard var pull = state.pulls[number] else { return }
            body(&pull)
            pull.updates += 1
            state.pulls[number] = pull
        }
    }

    func open(_ number: Int, _ head: String) { state.withLock { $0.pulls[number] = Pull(head: head) } }

    /// Somebody writes a comment.
    func say(_ body: String, at change: Int, by author: String) {
        state.withLock {
            $0.comments.append(Comment(id: 1_000 + $0.comments.count, change: change, body: body, author: author))
        }
    }

    /// Called when the order to merge has come, and nothing is merged yet.
    func beforeMerge(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeMerge = body } }

    /// Called when it is merged, and that is not answered yet.
    func afterMerge(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.afterMerge = body } }

    func refuseMerges(_ refuses: Bool) { state.withLock { $0.refusesMerges = refuses } }

    func breakMerges(_ count: Int) { state.withLock { $0.brokenMerges = count } }

    /// How often a change was merged.
    var merges: Int { state.withLock { $0.merges } }
    var comments: [Comment] { state.withLock { $0.comments } }
    func reaction(to comment: Int) -> String? { state.withLock { $0.reactions[comment] } }
    func merged(_ number: Int) -> String? { state.withLock { $0.pulls[number]?.merged } }

    @discardableResult
    func git(_ arguments: String...) throws -> String {
        let ended = try CommandRunner(in: repository, environment: environment).waitForEnd(of: ["git"] + arguments)
        guard ended.code == 0 else { throw CommandFailure(command: ["git"] + arguments, ended: ended) }
        return ended.text
    }

    /// Sends a delivery as Gitea does, with its signature.
    static func deliver(_ body: String, to url: String, secret: String, _ bench: Bench) async throws -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(body.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        let hex = code.map { String(format: "%02x", $0) }.joined()
        return try await bench.command([
            "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "120", "--data-binary", body, "-H",
            "content-type: application/json", "-H", "x-gitea-signature: \(hex)", url,
        ]).text
    }

    // MARK: Answers

    /// Answers as Gitea does. https://docs.gitea.com/api/
    func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        guard asked.headers["authorization"]?.hasSuffix(" \(Self.token)") == true else {
            return .json(401, #"{"message": "no token"}"#)
        }
        // /api/v1/repos/OWNER/NAME/…
        let path = asked.path.split(separator: "?").first?.split(separator: "/").dropFirst(2).map(String.init) ?? []
        let place = path.first == "repos" ? Array(path.dropFirst(3)) : path
        switch (asked.method, place.first ?? "", place.count) {
        case ("GET", "user", 1): return .json(200, #"{"login": "bot"}"#)
        case ("GET", "", 0): return .json(200, #"{"permissions": {"push": true}}"#)
        case ("GET", "pulls", 1): return .json(200, "[\(pulls.joined(separator: ","))]")
        case ("GET", "pulls", 2): return Int(place[1]).flatMap(pull).map { .json(200, $0) } ?? Self.nothing
        case ("POST", "pulls", 3) where place[2] == "merge": return merge(Int(place[1]) ?? 0, asked)
        case ("POST", "statuses", 2) where !place[1].hasPrefix("000000"): return .json(201, "{}")
        case ("GET", "statuses", 2): return .json(200, "[]")
        case ("GET", "collaborators", 3):
            return .json(200, #"{"permission": "\#(place[1] == "grace" ? "write" : "read")"}"#)
        case ("GET", "issues", 3): return .json(200, list(Int(place[1]) ?? 0))
        case ("POST", "issues", 3): return add(asked.json["body"] ?? "", to: Int(place[1]) ?? 0)
        case ("POST", "issues", 4) where place[3] == "reactions":
            state.withLock { $0.reactions[Int(place[2]) ?? 0] = asked.json["content"] }
            return .json(201, "{}")
        case ("PATCH", "issues", 3): return edit(Int(place[2]) ?? 0, asked.json["body"] ?? "")
        default: return Self.nothing
        }
    }

    private static let nothing = ForgeDouble.Answer.json(404, #"{"message": "no such place"}"#)

    private var pulls: [String] { state.withLock { $0.pulls.keys.sorted() }.compactMap(pull) }

    private func pull(_ number: Int) -> String? {
        guard let pull = state.withLock({ $0.pulls[number] }) else { return nil }
        let labels = pull.labels.map { #"{"name": "\#($0)"}"# }.joined(separator: ",")
        let time = Date(timeIntervalSince1970: 1_790_000_000 + Double(number * 1_000 + pull.updates))
        let head = pull.fork.map { #""repo_id": 2, "repo": {"full_name": "\#($0)"}"# } ?? #""repo_id": 1"#
        return """
            {"number": \(number), "title": "Change \(number)", "state": "\(pull.merged == nil ? "open" : "closed")",
            "merged": \(pull.merged != nil), "merge_commit_sha": \(pull.merged.map { "\"\($0)\"" } ?? "null"),
            "mergeable": \(pull.isMergeable),
            "draft": false, "user": {"login": "ada", "id": 1}, "labels": [\(labels)],
            "head": {"ref": "b\(number)", "sha": "\(pull.head)", \(head)},
            "base": {"ref": "main", "sha": "\(pull.head)", "repo_id": 1},
            "updated_at": "\(time.formatted(.iso8601))"}
            """
    }

    /// Merges with Git. The index and the files of the work tree stay behind.
    private func merge(_ number: Int, _ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        let (pull, before, after, refuses) = state.withLock {
            ($0.pulls[number], $0.beforeMerge, $0.afterMerge, $0.refusesMerges)
        }
        guard let pull, pull.merged == nil, pull.isMergeable else {
            return .json(405, #"{"message": "not mergeable"}"#)
        }
        guard asked.json["head_commit_id"] == pull.head else { return .json(409, #"{"message": "head out of date"}"#) }
        let isBroken = state.withLock { state in
            state.brokenMerges -= 1
            return state.brokenMerges >= 0
        }
        if isBroken { return .json(503, "{}") }
        if refuses { return .json(405, #"{"message": "a rule forbids it"}"#) }
        before?()
        do {
            let tip = try git("rev-parse", "main")
            let tree = try git("merge-tree", "--write-tree", tip, pull.head)
            let parents = ["-p", tip] + (asked.json["Do"] == "merge" ? ["-p", pull.head] : [])
            let message = asked.json["MergeTitleField"] ?? "Merge"
            let arguments = ["git", "commit-tree", tree, "-m", message] + parents
            let made = try CommandRunner(in: repository, environment: environment).waitForEnd(of: arguments).text
            try git("update-ref", "refs/heads/main", made, tip)
            state.withLock { state in
                state.pulls[number]?.merged = made
                state.pulls[number]?.updates += 1
                state.merges += 1
            }
        } catch {
            return .json(500, "{}")
        }
        after?()
        return .json(200, "")
    }

    private func list(_ change: Int) -> String {
        let now = Date().formatted(.iso8601)
        let all = comments.filter { $0.change == change }.map {
            [
                "id": $0.id, "body": $0.body, "user": ["login": $0.author, "id": $0.author == "bot" ? -2 : 2],
                "created_at": now, "updated_at": now,
            ] as [String: Any]
        }
        return (try? JSONSerialization.data(withJSONObject: all)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    private func add(_ body: String, to change: Int) -> ForgeDouble.Answer {
        let id = state.withLock { state in
            let id = 1_000 + state.comments.count
            state.comments.append(Comment(id: id, change: change, body: body, author: "bot"))
            return id
        }
        return .json(201, #"{"id": \#(id)}"#)
    }

    private func edit(_ id: Int, _ body: String) -> ForgeDouble.Answer {
        let isKnown = state.withLock { state in
            guard let index = state.comments.firstIndex(where: { $0.id == id }) else { return false }
            state.comments[index].body = body
            return true
        }
        return isKnown ? .json(200, #"{"id": \#(id)}"#) : .json(404, #"{"message": "no such comment"}"#)
    }
}
