@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import Foundation
import Logging
import Pipeline
import Results
import Store
import Synchronization
import TestSupport
import Testing

@testable import Forges

/// A forge with one change that tests can alter, and a receiver that asks it.
final class Hosted: Sendable {
    struct State {
        var title = "A title"
        var isDraft = false
        var labels: [String] = []
        var target = "main"
        var head = Delivery.head
        var fork: String?
        var author = "ada"
        var association = "NONE"
        var writers: Set<String> = ["grace"]
        var comments: [(id: Int, body: String, by: String, type: String, isEdited: Bool, age: Double)] = []
        var fails = false
        var updated = 0.0
        var issue: (number: Int, author: String, labels: [String], isOpen: Bool) = (9, "eve", [], true)
        /// At lines of the change.
        var lines: [(id: Int, body: String, by: String)] = []
        /// At the issue.
        var said: [(id: Int, body: String, by: String)] = []
    }
    /// Issues that became tasks, and who asked; what was said to tasks.
    let begun = Mutex<[String]>([])
    let remarks = Mutex<[ForgeTasks.Remark]>([])
    let interest = Mutex(ForgeTasks.Interest())
    let state = Mutex(State())
    let orders = Mutex<[ForgeOrder]>([])
    let anew = Mutex(0)
    let reconsidered = Mutex<[String]>([])
    let clock = TestClock()

    func change(_ body: (inout State) -> Void) {
        state.withLock {
            body(&$0)
            $0.updated += 10
        }
    }

    func answer(_ asked: ForgeDouble.Asked) -> ForgeDouble.Answer {
        let state = state.withLock { $0 }
        if state.fails { return .json(502, "{}") }
        let path = asked.path.split(separator: "?").first.map(String.init) ?? ""
        let now = clock.now
        func time(_ age: Double) -> String { now.addingTimeInterval(-age).formatted(.iso8601) }
        let pull = """
            {"number": 7, "title": \(json(state.title)), "state": "open", "draft": \(state.isDraft),
            "user": {"login": "\(state.author)", "id": 1, "type": "User"},
            "labels": [\(state.labels.map { "{\"name\": \(json($0))}" }.joined(separator: ","))],
            "head": {"ref": "b", "sha": "\(state.head)", "repo": {"id": \(state.fork == nil ? 1 : 2), "full_name": \(json(state.fork ?? "octo/hello"))}},
            "base": {"ref": \(json(state.target)), "sha": "\(Delivery.head)", "repo": {"id": 1, "full_name": "octo/hello"}},
            "author_association": "\(state.association)", "updated_at": "\(Date(timeIntervalSince1970: 1_800_000_000 + state.updated).formatted(.iso8601))"}
            """
        if path.hasSuffix("/pulls/7") { return .json(200, pull) }
        if path.hasSuffix("/pulls") {
            let etag = "\"\(state.updated)\""
            if asked.headers["if-none-match"] == etag { return .json(304, "") }
            return .json(200, "[\(pull)]", headers: ["etag": etag])
        }
        if path.hasSuffix("/permission") {
            let login = path.split(separator: "/").dropLast().last.map(String.init) ?? ""
            return .json(200, #"{"permission": "\#(state.writers.contains(login) ? "write" : "read")"}"#)
        }
        let issue = """
            {"number": \(state.issue.number), "title": "Crash @all", "body": "ignore previous", "user": {"login": "\(state.issue.author)", "id": 4},
            "state": "\(state.issue.isOpen ? "open" : "closed")", "html_url": "https://example.com/9",
            "labels": [\(state.issue.labels.map { "{\"name\": \(json($0))}" }.joined(separator: ","))], "updated_at": "\(time(0))"}
            """
        if path.hasSuffix("/issues/9") { return .json(200, issue) }
        if path.hasSuffix("/issues") {
            let other =
                #"{"number": 7, "title": "t", "state": "open", "labels": [], "pull_request": {}, "updated_at": "2030-01-01T00:00:00Z"}"#
            return .json(200, "[\(issue), \(other)]")
        }
        func comment(_ id: Int, _ body: String, _ login: String) -> String {
            """
            {"id": \(id), "body": \(json(body)), "user": {"login": "\(login)", "id": 2, "type": "User"}, "path": "A.swift", "line": 3,
            "created_at": "\(time(5))", "updated_at": "\(time(5))"}
            """
        }
        if path.hasSuffix("/pulls/7/comments") {
            return .json(200, "[\(state.lines.map { comment($0.id, $0.body, $0.by) }.joined(separator: ","))]")
        }
        if path.hasSuffix("/pulls/7/reviews") { return .json(200, "[]") }
        if path.hasSuffix("/issues/9/comments") {
            return .json(200, "[\(state.said.map { comment($0.id, $0.body, $0.by) }.joined(separator: ","))]")
        }
        if path.hasSuffix("/comments") {
            let all = state.comments.map { comment in
                """
                {"id": \(comment.id), "body": \(json(comment.body)), "user": {"login": "\(comment.by)", "id": 2, "type": "\(comment.type)"},
                "created_at": "\(time(comment.age))", "updated_at": "\(time(comment.isEdited ? comment.age - 2 : comment.age))"}
                """
            }
            return .json(200, "[\(all.joined(separator: ","))]")
        }
        return .json(404, "{}")
    }

    private func json(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    static func open(
        policy: CommandPolicy = CommandPolicy(),
        _ body: (Hosted, ForgeReceiver, Store.Index, ForgeDouble) async throws -> Void
    ) async throws {
        let hosted = Hosted()
        let index = try Store.Index.inMemory(now: { hosted.clock.now })
        let double = try await ForgeDouble { hosted.answer($0) }
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: .github, api: double.url)
        try await index.connectForge("hello", address: address.json(), location: "/hello")
        let record = try #require(try await index.forges().first)
        hosted.clock.advance(100)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        var log = Logger(label: "test")
        log.logLevel = .critical
        var host = ForgeHost(
            policy: policy, look: { _ in }, lookAnew: { _ in hosted.anew.withLock { $0 += 1 } },
            obey: { order in
                hosted.orders.withLock { $0.append(order) }
                return ForgeOutcome(isObeyed: true, text: "run 9 repeats test")
            },
            reconsider: { name, _ in hosted.reconsidered.withLock { $0.append(name) } }, noteWanted: {})
        host.tasks = ForgeTasks(
            interest: { _ in hosted.interest.withLock { $0 } },
            begin: { issue, by, _ in
                hosted.begun.withLock { $0.append("\(issue.number) by \(by)") }
                return ForgeOutcome(isObeyed: true, text: "task 3 begins")
            },
            remark: { remark in hosted.remarks.withLock { $0.append(remark) } })
        let receiver = ForgeReceiver(
            record, index: index,
            sessions: ForgeSessions { try ForgeSession(address, .token("token-123"), http: http) }, host: host,
            log: log,
            now: { hosted.clock.now })
        do {
            try await body(hosted, receiver, index, double)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }

    var given: [ForgeOrder] { orders.withLock { $0 } }
}

extension ForgeInbox.Contents {
    static func commented(_ change: Int) -> Self {
        var contents = Self()
        contents.commented = [change]
        return contents
    }
    fileprivate static func changed(_ change: Int, by login: String? = nil, head: String = Delivery.head) -> Self {
        var contents = Self()
        contents.changes = [change]
        if let login { contents.pushes[head] = ForgeUser(login: login, id: 5) }
        return contents
    }
}

@Suite struct ReceiverTests {
    private func answers(_ index: Store.Index) async throws -> [CommandAnswer] {
        try await index.openForgeItems(of: "hello").compactMap {
            if case .answer(let answer) = try ForgeWanted(json: $0.wanted) { answer } else { nil }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `what a receiver could not look at, the next one looks at`() async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change { state in
                state.fails = true
                state.comments = [(31, "/pipectl rerun", "grace", "User", false, 5)]
            }
            let inbox = ForgeInbox()
            let code = Data(repeating: 1, count: 32)
            #expect(inbox.take(.comment(change: 7), codes: [code]) == .taken)
            _ = try await receiver.take(inbox.empty())
            #expect(inbox.take(.issue(9, by: nil), codes: [Data(repeating: 2, count: 32)]) == .taken)
            inbox.giveBack(await receiver.leave())
            #expect(await receiver.leave().isEmpty)
            #expect(try await index.forgeDeliveries(of: "hello") == [code])
            #expect(inbox.take(.comment(change: 7), codes: [code]) == .known)
            hosted.change { $0.fails = false }
            hosted.clock.advance(10)
            _ = try await receiver.take(inbox.empty())
            #expect(hosted.given.map(\.command) == [.rerun(failedOnly: false)])
            #expect(try await index.forgeDeliveries(of: "hello").count == 2)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the first poll starts nothing, later news does, and what is the same costs no facts`() async throws {
        try await Hosted.open { hosted, receiver, index, double in
            _ = try await receiver.take(ForgeInbox.Contents())
            #expect(try await index.undecidedForgeChanges(of: "hello").isEmpty)
            #expect(hosted.anew.withLock { $0 } == 0)
            let asked = double.requests.count
            hosted.clock.advance(61)
            _ = try await receiver.take(ForgeInbox.Contents())
            #expect(double.requests.count <= asked + 2)
            hosted.change { $0.labels = ["ci"] }
            hosted.clock.advance(61)
            _ = try await receiver.take(ForgeInbox.Contents())
            let record = try #require(try await index.undecidedForgeChanges(of: "hello").first)
            #expect(record.facts.labels == ["ci"] && record.decided?.labels == [])
            #expect(hosted.anew.withLock { $0 } == 1)
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (nil, "ada", "NONE", nil, Contributor.Standing.writer), ("eve/hello", "ada", "NONE", nil, .newcomer),
            ("eve/hello", "ada", "CONTRIBUTOR", nil, .contributor), ("eve/hello", "grace", "NONE", nil, .writer),
            // A delivery says that somebody else pushed to the fork of one who may write.
            ("grace/hello", "grace", "MEMBER", "eve", .newcomer), ("eve/hello", "eve", "NONE", "grace", .writer),
        ] as [(String?, String, String, String?, Contributor.Standing)])
    func `who pushed decides`(
        fork: String?, author: String, association: String, pusher: String?, standing: Contributor.Standing
    ) async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change { ($0.fork, $0.author, $0.association) = (fork, author, association) }
            _ = try await receiver.take(.changed(7, by: pusher))
            let found = try await index.contributor(of: "7", head: Delivery.head, in: "hello")
            #expect(found?.standing == standing)
            #expect(found?.login == pusher ?? author)
            // A head that the forge has not spoken about yet is nobody's, unless only those who may write can push it.
            let other = String(repeating: "b", count: 40)
            #expect(
                try await index.contributor(of: "7", head: other, in: "hello")?.standing
                    == (fork == nil ? .writer : .unknown))
            #expect(try await index.contributor(of: nil, head: other, in: "hello")?.standing == .writer)
            #expect(try await index.contributor(of: "7", head: other, in: "other") == nil)
            #expect(hosted.reconsidered.withLock { $0 } == ["7"])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a command is obeyed once, whoever tells of it again`() async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change { $0.comments = [(1, "/pipectl rerun failed\nthanks", "grace", "User", false, 5)] }
            for _ in 0..<3 { _ = try await receiver.take(.commented(7)) }
            hosted.clock.advance(61)
            _ = try await receiver.take(ForgeInbox.Contents())
            #expect(hosted.given.map(\.command) == [.rerun(failedOnly: true)])
            #expect(hosted.given.first?.change == 7 && hosted.given.first?.by == "grace at GitHub")
            #expect(try await answers(index).map(\.isObeyed) == [true])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `who may not write, edited comments, bots and others are not obeyed`()
        async throws
    {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change {
                $0.comments = [
                    (1, "/pipectl approve", "eve", "User", false, 5), (2, "/pipectl approve", "grace", "User", true, 5),
                    (3, "/pipectl rerun", "grace", "Bot", false, 5),
                    (4, "I said /pipectl rerun", "grace", "User", false, 5),
                    (5, "> /pipectl rerun", "grace", "User", false, 5),
                    (6, "/pipectl explode", "grace", "User", false, 5),
                    (7, "/pipectl rerun", "grace", "User", false, 200),
                ]
            }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.given.isEmpty)
            // A bot gets no answer that it could answer, and what was said before the connection none at all.
            #expect(try await answers(index).map(\.comment).sorted() == [1, 2, 6])
            #expect(try await answers(index).allSatisfy { !$0.isObeyed && !$0.text.isEmpty })
        }
        var policy = CommandPolicy()
        policy.allowsEdited = true
        policy.bots = ["grace"]
        try await Hosted.open(policy: policy) { hosted, receiver, _, _ in
            hosted.change {
                $0.comments = [
                    (2, "/pipectl cancel", "grace", "User", true, 5), (3, "/pipectl rerun", "grace", "Bot", false, 5),
                ]
            }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.given.map(\.command) == [.cancel, .rerun(failedOnly: false)])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `whoever writes many commands gets no answer to each`() async throws {
        try await Hosted.open { hosted, receiver, index, double in
            hosted.change { $0.comments = (1...40).map { ($0, "/pipectl rerun", "eve", "User", false, 5) } }
            _ = try await receiver.take(.commented(7))
            #expect(try await answers(index).count == ForgeOrders.mostOrders)
            #expect(double.requests.count { $0.path.hasSuffix("/permission") } == ForgeOrders.mostOrders)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `buttons are obeyed once, and wait while the forge is down`() async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            func press(_ key: String, by login: String = "grace") -> ForgeInbox.Contents {
                var contents = ForgeInbox.Contents()
                contents.buttons = [
                    ForgeButton(
                        run: 3, head: Delivery.head, identifier: "approve", by: ForgeUser(login: login), key: key)
                ]
                return contents
            }
            hosted.change { $0.fails = true }
            let next = try await receiver.take(press("a"))
            #expect(next > hosted.clock.now && hosted.given.isEmpty)
            hosted.change { $0.fails = false }
            hosted.clock.advance(10)
            _ = try await receiver.take(ForgeInbox.Contents())
            _ = try await receiver.take(press("a"))
            _ = try await receiver.take(press("b", by: "eve"))
            #expect(hosted.given.map(\.run) == [3] && hosted.given.first?.command == .approve(head: nil))
            #expect(try await index.forgeOrder("button b", of: "hello")?.isObeyed == false)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a lost delivery is caught by the poll`() async throws {
        try await Hosted.open { hosted, receiver, _, _ in
            _ = try await receiver.take(ForgeInbox.Contents())
            hosted.change { $0.comments = [(1, "/pipectl cancel", "grace", "User", false, 5)] }
            hosted.clock.advance(61)
            _ = try await receiver.take(ForgeInbox.Contents())
            #expect(hosted.given.map(\.command) == [.cancel])
        }
    }
}

/// Text of strangers that must do nothing but be text.
@Suite struct HostileIncomingTests {
    @Test(arguments: [
        "/pipectl rеrun",  // a Cyrillic letter
        "/pipectl re\u{200B}run", "/pipectl rerun\u{0}", "/pipectl rerun; rm -rf /", "/pipectl $(rerun)",
        "/pipectl RERUN", "/pipectl rerun failed now", "/pipectl approve ../../etc", "/pipectl approve zzzzzzz",
        "/pipectl approve 12345", "/pipectl", "/pipectl \u{1B}[2Jrerun", "/pipectl rerun\u{202E}",
        "/pipectl rerun " + String(repeating: "a", count: 10_000),
        "/pipectl approve " + String(repeating: "a", count: 65),
        "/pipectl land main", "/pipectl fix everything", "/pipectl cancel\u{FEFF}", "/pipectl approve ａｂｃｄｅｆ１",
        "/pipectl\trerun\u{2028}",
    ])
    func `what only looks like a command is none`(body: String) {
        #expect(ForgeCommand.read(body) == .failure(ForgeCommand.NoCommand()))
    }

    @Test(arguments: [
        "pipectl rerun", " /pipectl rerun", "/pipectlrerun", "／pipectl rerun", "/PIPECTL rerun", "`/pipectl rerun`",
        "```\n/pipectl rerun\n```", "> /pipectl rerun", "hello\n/pipectl rerun", "\u{FEFF}/pipectl rerun", "",
        "<!-- /pipectl rerun -->", "/pipectl-rerun", "//pipectl rerun",
    ])
    func `what does not begin with a command is a comment`(body: String) {
        #expect(ForgeCommand.read(body) == nil)
    }

    @Test func `commands`() {
        #expect(ForgeCommand.read("/pipectl  rerun\tfailed\r\nmore") == .success(.rerun(failedOnly: true)))
        #expect(ForgeCommand.read("/pipectl approve ABCDEF1") == .success(.approve(head: "abcdef1")))
        #expect(ForgeCommand.read("/pipectl land") == .success(.land))
        #expect(ForgeCommand.read("/pipectl task\nplease") == .success(.task))
        #expect(ForgeCommand.read("/pipectl approve plan") == .success(.approvePlan(version: nil)))
        #expect(ForgeCommand.read("/pipectl approve plan 3") == .success(.approvePlan(version: 3)))
        #expect(ForgeCommand.read("/pipectl approve plan 0") == .failure(ForgeCommand.NoCommand()))
        #expect(ForgeCommand.read("/pipectl approve plan ٣") == .failure(ForgeCommand.NoCommand()))
        #expect(ForgeCommand.read("/pipectl refuse") == .success(.refuse(reason: nil)))
        #expect(ForgeCommand.read("/pipectl refuse zu groß\r\n") == .success(.refuse(reason: "zu groß")))
        #expect(
            ForgeCommand.read("/pipectl remark keep “total”\nand test it")
                == .success(.remark("keep “total”\nand test it")))
        for none in ["/pipectl remark", "/pipectl remark  \n", "/pipectl remarkable", "/pipectl refuses"] {
            #expect(ForgeCommand.read(none) == .failure(ForgeCommand.NoCommand()))
        }
        let long = ForgeCommand.read("/pipectl remark " + String(repeating: "ü", count: 20_000))
        guard case .success(.remark(let text)) = long else {
            Issue.record("no remark")
            return
        }
        #expect(text.utf8.count <= ForgeCommand.longestText + 3)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "\u{1B}]0;x\u{7}", "@everyone fixes #1", "</script>", String(repeating: "🦀", count: 5_000), "\u{202E}txt",
            "a\u{0}b",
        ])
    func `titles, labels and branches of strangers are kept as bounded text`(text: String) async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change { ($0.title, $0.labels, $0.target) = (text, [text, "ci"], String(text.prefix(50)) + "x") }
            _ = try await receiver.take(.changed(7))
            let facts = try #require(try await index.forgeChanges(of: "hello", named: ["7"]).first).facts
            #expect(facts.title.count <= 500 && facts.labels.contains("ci"))
            #expect(facts.labels.allSatisfy { $0.utf8.count <= 255 })
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["", "HEAD", "../x", String(repeating: "A", count: 40)])
    func `a change whose head is no commit is left out, and others go on`(head: String) async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change { $0.head = head }
            var contents = ForgeInbox.Contents.changed(7)
            contents.commented = [7]
            hosted.change { $0.comments = [(1, "/pipectl cancel", "grace", "User", false, 5)] }
            _ = try await receiver.take(contents)
            #expect(try await index.forgeChanges(of: "hello", named: ["7"]).isEmpty)
            #expect(hosted.given.map(\.command) == [.cancel])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `an answer can't mention anybody or break out`() async throws {
        let double = try await ForgeDouble { _ in .json(201, #"{"id": 4}"#) }
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: .gitea)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let session = try ForgeSession(address, .token("token-123"), http: http)
        let answer = CommandAnswer(change: 7, comment: 9, isObeyed: false, text: "@all `x` fixes #1\n/approve <b>")
        _ = try await session.show(answer, after: ForgePast())
        try await http.shutdown()
        try await double.close()
        let body = double.requests.last?.json["body"] ?? ""
        let lines = body.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasPrefix("👎 ``") && lines[1].hasSuffix("``"))
        #expect(double.requests.map(\.method) == ["POST", "POST"])
        #expect(double.requests.first?.json["content"] == "-1")
    }
}

@Suite struct InboxTests {
    @Test(.timeLimit(.minutes(1))) func `a wait that was cancelled does not end the next one`() async throws {
        let inbox = ForgeInbox()
        let cancelled = Task { await inbox.wait() }
        cancelled.cancel()
        await cancelled.value
        let isOver = Mutex(false)
        let waiting = Task {
            await inbox.wait()
            isOver.withLock { $0 = true }
            return inbox.empty()
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(!isOver.withLock { $0 })
        #expect(inbox.take(.comment(change: 7), codes: [Data("1".utf8)]) == .taken)
        #expect(await waiting.value.commented == [7])
    }

    @Test(.timeLimit(.minutes(1))) func `what arrives before the wait ends it at once`() async {
        let inbox = ForgeInbox()
        #expect(inbox.take(.refs, codes: [Data("1".utf8)]) == .taken)
        await inbox.wait()
        #expect(!inbox.empty().isEmpty)
    }
}
