@testable import ForgeConnection
import Crypto
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Forges

/// What forges send, signed as they sign it.
enum Delivery {
    static let secret = "a-secret-of-a-webhook"

    static func code(_ body: Data, _ secret: String = secret) -> String {
        HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8)))
            .map { String(format: "%02x", $0) }.joined()
    }

    static func github(_ body: String, id: String = "1", secret: String = secret) -> [String: String] {
        [
            "content-type": "application/json", "x-github-delivery": id,
            "x-hub-signature-256": "sha256=\(code(Data(body.utf8), secret))",
        ]
    }

    static let head = String(repeating: "a", count: 40)

    static func pull(_ number: Int = 7, action: String = "synchronize", title: String = "t") -> String {
        """
        {"action": "\(action)", "number": \(number), "pull_request": {"number": \(number), "title": "\(title)",
        "head": {"sha": "\(head)"}}, "repository": {"full_name": "octo/hello"}, "sender": {"login": "ada", "id": 3}}
        """
    }
}

@Suite struct WebhookSignatureTests {
    private func holds(
        _ kind: ForgeKind, _ secret: String, _ body: String, _ headers: [String: String],
        at time: Double = 1_614_265_330
    ) throws -> Bool {
        let signature = WebhookSignature(
            kind: kind, secret: try WebhookSecret(text: secret), now: { Date(timeIntervalSince1970: time) })
        return signature.holds(for: Data(body.utf8), headers: headers)
    }

    /// The vector that GitHub's documentation publishes.
    @Test func `GitHub's published vector`() throws {
        let (secret, body) = ("It's a Secret to Everybody", "Hello, World!")
        let code = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        #expect(try holds(.github, secret, body, ["x-hub-signature-256": "sha256=\(code)"]))
        #expect(try !holds(.github, secret, body + "!", ["x-hub-signature-256": "sha256=\(code)"]))
        #expect(try !holds(.github, secret + "!", body, ["x-hub-signature-256": "sha256=\(code)"]))
        #expect(try holds(.gitea, secret, body, ["x-gitea-signature": code]))
        #expect(try holds(.forgejo, secret, body, ["x-forgejo-signature": code]))
        // A wrong signature of the newer name is not saved by a right one of the older.
        #expect(try !holds(.forgejo, secret, body, ["x-forgejo-signature": "00", "x-gitea-signature": code]))
    }

    /// The vector that the libraries of Standard Webhooks publish, which GitLab's signing token follows.
    @Test func `Standard Webhooks' published vector`() throws {
        let (secret, body) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", #"{"test": 2432232314}"#)
        var headers = [
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ]
        #expect(try holds(.gitlab, secret, body, headers))
        #expect(try holds(.gitlab, secret, body, headers, at: 1_614_265_330 + 299))
        #expect(try !holds(.gitlab, secret, body, headers, at: 1_614_265_330 + 301))
        #expect(try !holds(.gitlab, secret, body, headers, at: 1_614_265_330 - 301))
        #expect(try !holds(.gitlab, secret, body + " ", headers))
        headers["webhook-signature"] = "v1,AAAA v1a,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(try holds(.gitlab, secret, body, headers))
        headers["webhook-id"] = "msg_other"
        #expect(try !holds(.gitlab, secret, body, headers))
        // A signature that does not hold is not saved by the right token.
        headers["x-gitlab-token"] = secret
        #expect(try !holds(.gitlab, secret, body, headers))
    }

    @Test func `GitLab's token`() throws {
        #expect(try holds(.gitlab, Delivery.secret, "{}", ["x-gitlab-token": Delivery.secret]))
        for wrong in ["", "a", Delivery.secret + "a", String(Delivery.secret.dropLast())] {
            #expect(try !holds(.gitlab, Delivery.secret, "{}", ["x-gitlab-token": wrong]))
        }
    }

    @Test(arguments: [
        [:], ["x-hub-signature-256": ""], ["x-hub-signature-256": "sha256="],
        ["x-hub-signature-256": "sha1=" + String(repeating: "0", count: 64)],
        ["x-hub-signature-256": "sha256=" + String(repeating: "g", count: 64)],
        ["x-hub-signature-256": "sha256=" + String(repeating: "0", count: 62) + "é"],
        ["x-hub-signature-256": "sha256=" + String(repeating: "0", count: 10_000)],
        ["x-hub-signature": "sha1=d03207e4b030cf234e3447bac4d93add4c6643d8"],
        ["x-gitea-signature": "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"],
    ])
    func `what is no signature of GitHub`(headers: [String: String]) throws {
        #expect(try !holds(.github, "It's a Secret to Everybody", "Hello, World!", headers))
    }

    @Test func `a secret is in no text that could reach a log`() throws {
        let secret = WebhookSecret()
        #expect(secret.text.utf8.count == 64 && secret != WebhookSecret())
        #expect(!"\(secret) \(String(reflecting: secret))".contains(secret.text))
        #expect(throws: ForgeError.self) { try WebhookSecret(text: "short") }
        #expect(throws: ForgeError.self) { try WebhookSecret(text: "0123456789abcdef\n0123") }
    }
}

@Suite struct ForgeHintTests {
    private func hint(_ text: String, _ kind: ForgeKind = .github) throws -> ForgeHint {
        try ForgeHint(Data(text.utf8), kind: kind, project: "octo/hello", key: "k")
    }

    @Test func `pull requests, and who pushed`() throws {
        let push = ForgePush(head: Delivery.head, by: ForgeUser(login: "ada", id: 3))
        #expect(try hint(Delivery.pull()) == .change(7, push: push))
        // Who edits a title has pushed nothing.
        #expect(try hint(Delivery.pull(action: "edited")) == .change(7, push: nil))
        #expect(try hint(Delivery.pull(action: "labeled")) == .change(7, push: nil))
        #expect(try hint(#"{"ref": "refs/heads/main", "repository": {"full_name": "Octo/Hello"}}"#) == .refs)
        #expect(try hint(#"{"zen": "…", "repository": {"full_name": "octo/hello"}}"#) == .nothing)
    }

    @Test func `GitLab's merge requests and notes`() throws {
        let project = #""project": {"path_with_namespace": "octo/hello"}, "user": {"username": "ada", "id": 3}"#
        let push = ForgePush(head: Delivery.head, by: ForgeUser(login: "ada", id: 3))
        #expect(
            try hint(
                """
                {"object_kind": "merge_request", \(project), "object_attributes": {"iid": 7, "action": "update",
                "oldrev": "b", "last_commit": {"id": "\(Delivery.head)"}}}
                """, .gitlab) == .change(7, push: push))
        #expect(
            try hint(
                #"{"object_kind": "merge_request", \#(project), "object_attributes": {"iid": 7, "action": "update"}}"#,
                .gitlab) == .change(7, push: nil))
        #expect(
            try hint(
                """
                {"object_kind": "note", \(project), "object_attributes": {"noteable_type": "MergeRequest"},
                "merge_request": {"iid": 7}}
                """, .gitlab) == .comment(change: 7))
        #expect(
            try hint(
                #"{"object_kind": "note", \#(project), "object_attributes": {"noteable_type": "Snippet"}}"#, .gitlab)
                == .nothing)
        #expect(
            try hint(
                """
                {"object_kind": "note", \(project), "object_attributes": {"noteable_type": "Issue"}, "issue": {"iid": 9}}
                """, .gitlab) == .issue(9, by: nil))
        func issue(_ action: String, _ changes: String) throws -> ForgeHint {
            try hint(
                """
                {"object_kind": "issue", \(project), "object_attributes": {"iid": 9, "action": "\(action)"},
                "changes": \(changes)}
                """, .gitlab)
        }
        #expect(try issue("update", #"{"labels": {}}"#) == .issue(9, by: ForgeUser(login: "ada", id: 3)))
        #expect(try issue("open", "{}") == .issue(9, by: ForgeUser(login: "ada", id: 3)))
        #expect(try issue("update", #"{"title": {}}"#) == .issue(9, by: nil))
        #expect(try hint(#"{"object_kind": "tag_push", \#(project)}"#, .gitlab) == .refs)
    }

    @Test func `comments and reviews of pull requests, issues and their comments`() throws {
        let rest = #""repository": {"full_name": "octo/hello"}, "sender": {"login": "ada", "id": 3}"#
        let comment = #""comment": {"id": 5, "body": "/pipectl rerun"}, \#(rest)"#
        #expect(
            try hint(#"{"issue": {"number": 7, "pull_request": {"url": "u"}}, \#(comment)}"#) == .comment(change: 7))
        #expect(try hint(#"{"pull_request": {"number": 7}, "review": {"id": 1}, \#(rest)}"#) == .comment(change: 7))
        // Gitea's deliveries have the field without a review, too.
        #expect(
            try hint(#"{"pull_request": {"number": 7}, "review": null, \#(rest)}"#) == .change(7, push: nil))
        // Who writes a comment has set no label.
        #expect(try hint(#"{"issue": {"number": 7}, \#(comment)}"#) == .issue(7, by: nil))
        #expect(
            try hint(#"{"action": "labeled", "issue": {"number": 7}, \#(rest)}"#)
                == .issue(7, by: ForgeUser(login: "ada", id: 3)))
        #expect(
            try hint(#"{"action": "labeled", "issue": {"number": 7, "pull_request": {"url": "u"}}, \#(rest)}"#)
                == .nothing)
    }

    @Test func `buttons of our own checks`() throws {
        func pressed(_ external: String, _ action: String, _ identifier: String = "rerun") throws -> ForgeHint {
            try hint(
                """
                {"action": "\(action)", "requested_action": {"identifier": "\(identifier)"}, "sender": {"login": "ada"},
                "check_run": {"external_id": "\(external)", "head_sha": "\(Delivery.head)"},
                "repository": {"full_name": "octo/hello"}}
                """)
        }
        func button(_ identifier: String) -> ForgeHint {
            .button(
                ForgeButton(
                    run: 12, head: Delivery.head, identifier: identifier, by: ForgeUser(login: "ada"), key: "k"))
        }
        #expect(try pressed("octo/hello run 12", "requested_action", "rerun-failed") == button("rerun-failed"))
        #expect(try pressed("octo/hello run 12", "rerequested", "approve") == button("rerun"))
        for external in ["octo/hello run -1", "octo/hello run 99999999999999999999", "octo/hello run 1; rm", "other"] {
            #expect(try pressed(external, "requested_action") == .nothing)
        }
        #expect(try pressed("octo/hello run 12", "requested_action", "deploy") == .nothing)
        #expect(try pressed("octo/hello run 12", "created") == .nothing)
        #expect(
            try hint(
                """
                {"action": "rerequested", "check_suite": {"head_sha": "\(Delivery.head)"}, "sender": {"login": "ada"},
                "repository": {"full_name": "octo/hello"}}
                """)
                == .button(
                    ForgeButton(
                        run: nil, head: Delivery.head, identifier: "rerun", by: ForgeUser(login: "ada"), key: "k")))
    }

    @Test(arguments: [
        "", "null", "[]", "7", "{", String(repeating: "[", count: 100_000),
        #"{"repository": {"full_name": "octo/hello"}, "number": 1e999}"#,
        #"{"repository": {"full_name": "octo/hello"}, "pull_request": {"number": 123456789012345678901234567890}}"#,
        #"{"repository": {"full_name": 7}}"#, "{\"repository\": {\"full_name\": \"octo/hello\u{0}\"}, \"ref\": 1}",
    ])
    func `what is no delivery is refused`(body: String) {
        #expect(throws: ForgeError.self) { try hint(body) }
    }

    @Test(arguments: [
        #"{"repository": {"full_name": "octo/hеllo"}, "ref": "r"}"#,  // a Cyrillic letter
        #"{"repository": {"full_name": "octo/hello/../other"}, "ref": "r"}"#,
        #"{"ref": "r"}"#,
        #"{"repository": {"full_name": "octo/hello"}, "pull_request": {"number": 0}}"#,
        #"{"repository": {"full_name": "octo/hello"}, "pull_request": {"number": -7}}"#,
        #"{"repository": {"full_name": "octo/hello"}, "pull_request": {"number": 9007199254740993}}"#,
    ])
    func `what is about another repository, or no change, tells nothing`(body: String) throws {
        #expect(try hint(body) == .nothing)
    }

    @Test(arguments: ["../../etc", "A", String(repeating: "a", count: 39), String(repeating: "A", count: 40), "HEAD"])
    func `a head that is no commit is nobody's push`(head: String) throws {
        let text = Delivery.pull().replacing(Delivery.head, with: head)
        #expect(try hint(text) == .change(7, push: nil))
    }
}

@Suite struct ForgeInboxTests {
    private func code(_ number: Int) -> Data { Data(SHA256.hash(data: Data("\(number)".utf8))) }

    @Test func `hints that say the same become one`() {
        let inbox = ForgeInbox()
        for number in 0..<1_000 {
            #expect(inbox.take(.change(number % 3 + 1, push: nil), codes: [code(number)]) == .taken)
        }
        #expect(inbox.take(.comment(change: 9), codes: [code(7)]) == .known)
        let contents = inbox.empty()
        #expect(contents.changes == [1, 2, 3] && contents.commented.isEmpty && contents.codes.count == 1_000)
        #expect(inbox.empty().isEmpty)
    }

    @Test func `who may have set labels is named, and few of them`() {
        let inbox = ForgeInbox()
        for number in 0..<100 {
            let person = ForgeUser(login: "u\(number / 2)")
            #expect(inbox.take(.issue(9, by: person), codes: [code(number)]) == .taken)
        }
        let contents = inbox.empty()
        #expect(contents.issues == [9] && contents.labellers[9]?.count == ForgeInbox.mostLabellers)
        #expect(contents.labellers[9]?.prefix(2).map(\.login) == ["u0", "u1"])
    }

    @Test func `however much arrives, it stays small`() {
        let inbox = ForgeInbox()
        for number in 0..<(2 * ForgeInbox.mostRemembered) {
            _ = inbox.take(.change(number, push: nil), codes: [code(number)])
        }
        let contents = inbox.empty()
        #expect(contents.isOverfull && contents.changes.count == ForgeInbox.mostChanges)
        #expect(contents.codes.count == ForgeInbox.mostRemembered)
        // The oldest are forgotten, the newest are known.
        #expect(inbox.take(.refs, codes: [code(2 * ForgeInbox.mostRemembered - 1)]) == .known)
        #expect(inbox.take(.refs, codes: [code(0)]) == .taken)
    }

    @Test func `what must not be lost is refused where there is no room`() {
        let inbox = ForgeInbox()
        let user = ForgeUser(login: "ada")
        func press(_ number: Int) -> ForgeInbox.Outcome {
            let button = ForgeButton(
                run: Int64(number), head: Delivery.head, identifier: "rerun", by: user, key: "\(number)")
            return inbox.take(.button(button), codes: [code(number)])
        }
        for number in 0..<ForgeInbox.mostButtons { #expect(press(number) == .taken) }
        #expect(press(-1) == .full)
        #expect(inbox.empty().buttons.count == ForgeInbox.mostButtons)
        // It was not remembered: the forge may deliver it again.
        #expect(press(-1) == .taken)
    }

    @Test(.timeLimit(.minutes(1))) func `who waits is told`() async {
        let inbox = ForgeInbox()
        #expect(inbox.take(.refs, codes: [code(1)]) == .taken)
        await inbox.wait()
        async let waiting: Void = inbox.wait()
        #expect(inbox.take(.refs, codes: [code(2)]) == .taken)
        await waiting
    }
}
