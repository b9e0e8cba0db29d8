import Results
import DaemonLog
import Foundation
import Synchronization
import TestBasics
import TestForge
import TestSupport
import Testing

/// The daemon shows the verdicts of changes at a forge.
@Suite struct ForgeTests {
    /// What the forge has: the newest commit status of each context, and comments.
    private final class Shown: Sendable {
        struct Comment: Sendable, Equatable {
            var id: Int
            var change: String
            var body: String
        }

        private struct State {
            var statuses: [String: [String: String]] = [:]
            var comments: [Comment] = []
            var comment = 0
            /// The head of change 7, which a branch of the repository itself proposes.
            var head: String?
        }

        private let state = Mutex(State())

        var comments: [Comment] { state.withLock { $0.comments } }
        /// How many comments were made, also those that were edited since.
        var madeComments: Int { state.withLock { $0.comment } }

        /// The forge has change 7 at this commit.
        func propose(_ head: String) { state.withLock { $0.head = head } }

        /// The state of a commit's status.
        func status(_ commit: String, _ context: String = "pipectl/test") -> String? {
            state.withLock { $0.statuses[commit]?[context] }
        }

        /// Answers as Gitea does. https://docs.gitea.com/api/
        func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
            guard asked.headers["authorization"]?.hasSuffix(" token-of-a-bot") == true else {
                return .json(401, #"{"message": "no token"}"#)
            }
            let path = asked.path.split(separator: "?").first?.split(separator: "/").dropFirst(2).map(String.init) ?? []
            switch (asked.method, path.first ?? "", path.count) {
            case ("GET", "user", 1): return .json(200, #"{"login": "bot"}"#)
            case ("GET", "repos", 3): return .json(200, #"{"permissions": {"push": true}}"#)
            case ("GET", "repos", 4) where path[3] == "pulls": return .json(200, "[\(pull ?? "")]")
            case ("GET", "repos", 5) where path[3] == "pulls" && path[4] == "7":
                return pull.map { .json(200, $0) } ?? .json(404, #"{"message": "no such change"}"#)
            case ("POST", "repos", 5) where path[3] == "statuses": return setStatus(path[4], asked.json)
            case ("GET", "repos", 5) where path[3] == "statuses": return .json(200, "[]")
            case ("GET", "repos", 6) where path[5] == "comments": return .json(200, list(path[4]))
            case ("POST", "repos", 6) where path[5] == "comments": return add(asked.json["body"] ?? "", to: path[4])
            case ("PATCH", "repos", 6) where path[4] == "comments": return edit(path[5], asked.json["body"] ?? "")
            default: return .json(404, #"{"message": "no such place"}"#)
            }
        }

        private var pull: String? {
            state.withLock(\.head).map { head in
                """
                {"number": 7, "title": "Adds", "state": "open", "user": {"login": "ada", "id": 1},
                "head": {"ref": "adds", "sha": "\(head)", "repo_id": 1},
                "base": {"ref": "main", "sha": "\(head)", "repo_id": 1}, "updated_at": "2026-01-01T00:00:00Z"}
                """
            }
        }

        private func setStatus(_ commit: String, _ body: [String: String]) -> ForgeDouble.Answer {
            // Trying the permission names a commit that does not exist.
            guard !commit.hasPrefix("000000"), let context = body["context"], let new = body["state"] else {
                return .json(404, #"{"message": "no such commit"}"#)
            }
            state.withLock { $0.statuses[commit, default: [:]][context] = new }
            return .json(201, "{}")
        }

        private func list(_ change: String) -> String {
            let all = comments.filter { $0.change == change }
                .map { ["id": $0.id, "body": $0.body, "user": ["login": "bot"]] as [String: Any] }
            return (try? JSONSerialization.data(withJSONObject: all)).map { String(decoding: $0, as: UTF8.self) }
                ?? "[]"
        }

        private func add(_ body: String, to change: String) -> ForgeDouble.Answer {
            let id = state.withLock { state in
                state.comment += 1
                state.comments.append(Comment(id: state.comment, change: change, body: body))
                return state.comment
            }
            return .json(201, #"{"id": \#(id)}"#)
        }

        private func edit(_ id: String, _ body: String) -> ForgeDouble.Answer {
            let isKnown = state.withLock { state in
                guard let index = state.comments.firstIndex(where: { String($0.id) == id }) else { return false }
                state.comments[index].body = body
                return true
            }
            return isKnown ? .json(200, #"{"id": \#(id)}"#) : .json(404, #"{"message": "no such comment"}"#)
        }
    }

    private static let workflow = Workflows.test(
        #"Step("unit", run: "sh check.sh").testResults(.junit("r.xml")).neverProved()"#,
        files: ["check.sh": check(fails: false)])

    /// A test suite of one test, whose failure tries to mention somebody.
    private static func check(fails: Bool) -> String {
        let failure = fails ? "<failure message='expected 3, got 4 @everyone'/>" : ""
        return """
            echo "<testsuite><testcase classname='Sum' name='adds'>\(failure)</testcase></testsuite>" > r.xml
            exit \(fails ? 1 : 0)

            """
    }

    private func connect(_ bench: Bench, _ forge: ForgeDouble, token: String) async throws -> Ended {
        let file = "\(bench.root)/token"
        try Data("\(token)\n".utf8).write(to: URL(fileURLWithPath: file))
        return try await bench.pipectl(
            "forge", "connect", "\(forge.url)/octo/hello", "--kind", "gitea", "--token-file", file)
    }

    @Test(.timeLimit(.minutes(6)))
    func `a failing change has a status and a comment, which is one line once it is mended`() async throws {
        let shown = Shown()
        let forge = try await ForgeDouble { shown.answer($0) }
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let connected = try await connect(bench, forge, token: "token-of-a-bot")
                try #require(connected.code == 0, "\(connected.errors)")

                let broken = try await bench.change(7, ["check.sh": Self.check(fails: true)])
                shown.propose(broken)
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(1).verdict == .failed)
                try await eventually("the failure at the forge") {
                    shown.status(broken) == "failure" && !shown.comments.isEmpty
                }
                let comment = try #require(shown.comments.first)
                #expect(comment.change == "7")
                #expect(comment.body.contains("adds") && comment.body.contains("expected 3, got 4"))
                // Forges notify nobody who is named in a block of code.
                let prose = comment.body.split(separator: "```").enumerated().filter { $0.offset % 2 == 0 }
                #expect(prose.allSatisfy { !$0.element.contains("@everyone") }, "nobody is mentioned")

                let mended = try await bench.change(7, ["check.sh": Self.check(fails: false)])
                shown.propose(mended)
                _ = try await bench.pipectl("notify")
                #expect(try await daemon.ended(2).verdict == .passed)
                try await eventually("the mended change at the forge") {
                    shown.status(mended) == "success" && shown.comments.first?.body != comment.body
                }
                let lines = try #require(shown.comments.first).body.split(separator: "\n")
                #expect(lines.count == 2, "the hidden mark and one line: \(lines)")
                #expect(shown.madeComments == 1)
                #expect(shown.status(broken) == "failure", "the older commit keeps its verdict")
                #expect(daemon.events(.forgeRefused).isEmpty && daemon.events(.forgeUnusable).isEmpty)
                #expect(await daemon.stop() == 0)
            }
        }
        try await forge.close()
    }

    @Test(.timeLimit(.minutes(6)))
    func `a forge that can't say who pushed a change is asked with pauses, and the run needs approval`() async throws {
        let shown = Shown()
        // Its list of changes fails, too.
        let forge = try await ForgeDouble { asked in
            asked.path.contains("/pulls") ? .json(502, "{}") : shown.answer(asked)
        }
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let connected = try await connect(bench, forge, token: "token-of-a-bot")
                try #require(connected.code == 0, "\(connected.errors)")
                let head = try await bench.change(7, ["check.sh": Self.check(fails: false)])
                _ = try await bench.pipectl("notify")
                try await daemon.event(.runNeedsApproval)
                try await eventually("the pending status") { shown.status(head) == "pending" }
                let asked = forge.requests.count { $0.path.contains("/pulls") }
                #expect(asked < 30, "each failure doubles the pause; asked \(asked) times")
                #expect(await daemon.stop() == 0)
            }
        }
        try await forge.close()
    }

    @Test(.timeLimit(.minutes(6)))
    func `a token that the forge refuses connects nothing and is not shown`() async throws {
        let shown = Shown()
        let forge = try await ForgeDouble { shown.answer($0) }
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let refused = try await connect(bench, forge, token: "another-token")
                #expect(refused.code != 0)
                #expect(!"\(refused.output)\(refused.errors)\(daemon.text)".contains("another-token"))
                try await bench.change(7, ["check.sh": Self.check(fails: true)])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(1)
                #expect(await daemon.stop() == 0)
            }
        }
        #expect(shown.comments.isEmpty)
        #expect(forge.requests.allSatisfy { !$0.path.contains("statuses") && !$0.path.contains("comments") })
        try await forge.close()
    }
}
