import Control
import Foundation
import Pipeline
import Results
import Store
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Pages

/// What people do at the pages and by the API, and what they are asked for.
@Suite struct ActionTests {
    /// Path below the root, fields of a form, the same as JSON, where it leads, and what the daemon is asked.
    static let actions: [(path: String, form: [String: String], json: String, page: String, asked: String)] = [
        ("/runs/1/rerun", [:], "", "/runs/9", "failedOnly: false"),
        ("/runs/1/rerun", ["failed": "1"], #"{"failed": true}"#, "/runs/9", "failedOnly: true"),
        ("/runs/1/cancel", [:], "{}", "/runs/1", "cancelled by"),
        ("/runs/1/approve", [:], "", "/runs/1", "isRejected: false"),
        ("/runs/1/approve", ["step": "ship"], #"{"step": "ship"}"#, "/runs/1", "ship"),
        ("/runs/1/reject", ["reason": "not today"], #"{"reason": "not today"}"#, "/runs/1", "not today"),
        ("/runs/1/fix", [:], "", "/runs/1", "fix(1)"),
        (
            "/repositories/alpha/changes/7/land", ["head": Sample.commit(1)], #"{"head": "\#(Sample.commit(1))"}"#,
            "/queue", Sample.commit(1)
        ),
        (
            "/repositories/alpha/runs", ["workflow": "test", "revision": "main", "p.level": "3"],
            #"{"workflow": "test", "revision": "main", "parameters": {"level": "3"}}"#, "/runs/9",
            #"["level": "3"]"#
        ),
        (
            "/repositories/alpha/runs", ["workflow": "test", "change": "7"], #"{"workflow": "test", "change": "7"}"#,
            "/runs/9", #"change("7")"#
        ),
        (
            "/tasks", ["text": "mend it", "repository": "alpha"], #"{"text": "mend it", "repository": "alpha"}"#,
            "/tasks/1", "mend it"
        ),
        ("/tasks/1/approve", ["plan": "2"], #"{"plan": 2}"#, "/tasks/1", "version: 2"),
        ("/tasks/1/remark", ["text": "not so"], #"{"text": "not so"}"#, "/tasks/1", "not so"),
        ("/tasks/1/refuse", ["reason": "no"], #"{"reason": "no"}"#, "/tasks/1", "refuse(1"),
        ("/tasks/1/cancel", [:], "", "/tasks/1", "cancel(1"),
        (
            "/tasks/1/land", ["commit": Sample.commit(2)], #"{"commit": "\#(Sample.commit(2))"}"#, "/tasks/1",
            Sample.commit(2)
        ),
    ]

    @Test(arguments: actions.indices) func `an action is what the command asks for, with who asks`(
        number: Int
    ) async throws {
        let action = Self.actions[number]
        let box = try await Box()
        let pages = box.pages
        let browser = try await box.browser(pages)
        let token = try await pages.formToken(browser)
        let form = try await pages.post(action.path, action.form.merging(["token": token]) { $1 }, headers: browser)
        #expect(form.status == 303 && form.headers["location"] == action.page)

        let bot = try await box.token("bot", "operate")
        let headers = ["authorization": "Bearer \(bot)", "content-type": "application/json"]
        let call = try await pages.ask("POST", "/api/v1" + action.path, headers: headers, body: action.json)
        #expect(call.status == 200, "\(call.text)")
        let answer = try JSONSerialization.jsonObject(with: Data(call.text.utf8)) as? [String: Any]
        #expect(answer?["page"] as? String == action.page && answer?["done"] is String)

        let acted = box.acted.withLock { $0 }
        #expect(acted.count == 2 && acted.allSatisfy { $0.contains(action.asked) }, "\(acted)")
        #expect(acted.first?.hasPrefix("ada: ") == true && acted.last?.hasPrefix("token bot: ") == true)
    }

    @Test func `the description names each action of the API`() throws {
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(OpenAPI.document.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let described = Set(paths.filter { $0.value["post"] != nil }.map(\.key))
        let known = Set(
            Self.actions.map {
                $0.path.replacing("/tasks/1/", with: "/tasks/{task}/").replacing("/1/", with: "/{run}/").replacing(
                    "/alpha", with: "/{repository}"
                )
                .replacing("/7/", with: "/{change}/")
            })
        #expect(described == known)
    }

    @Test(arguments: [
        ("/api/v1/runs/1/rerun", "[]"), ("/api/v1/runs/1/rerun", "{"), ("/api/v1/runs/1/rerun", #"{"failed": "yes"}"#),
        ("/api/v1/repositories/alpha/changes/7/land", "{}"), ("/api/v1/repositories/alpha/runs", "{}"),
        ("/api/v1/repositories/alpha/changes/7/land", #"{"head": "abc"}"#),
        ("/api/v1/repositories/alpha/runs", #"{"workflow": "test"}"#),
        ("/api/v1/repositories/alpha/runs", #"{"workflow": "test", "change": "7", "revision": "main"}"#),
    ])
    func `a call without what it needs does nothing`(path: String, body: String) async throws {
        let box = try await Box()
        let headers = [
            "authorization": "Bearer \(try await box.token("bot", "operate"))", "content-type": "application/json",
        ]
        #expect(try await box.pages.ask("POST", path, headers: headers, body: body).status == 400)
        #expect(box.acted.withLock { $0 }.isEmpty)
    }

    @Test(arguments: ["/runs/x/rerun", "/runs/1/explode", "/runs/-1/cancel", "/nothing", "/runs/1"])
    func `there is no other action`(path: String) async throws {
        let box = try await Box()
        let pages = box.pages
        let browser = try await box.browser(pages)
        let token = try await pages.formToken(browser)
        #expect(try await pages.post(path, ["token": token], headers: browser).status == 404)
        #expect(box.acted.withLock { $0 }.isEmpty)
    }

    @Test func `buttons are there for whoever may use them`() async throws {
        let box = try await Box()
        box.state.withLock { state in
            state.runs = [
                Box.summary(1), Box.summary(2) { ($0.state, $0.verdict, $0.heldFor) = (.queued, nil, "it is new") },
            ]
        }
        let pages = box.pages
        let browser = try await box.browser(pages)
        func forms(_ path: String, _ headers: [String: String]) async throws -> Set<String> {
            let text = try await pages.ask("GET", path, headers: headers).text
            return Set(text.matches(of: /method="post" action="([^"]+)"/).map { String($0.1) })
        }
        #expect(try await forms("/runs/1", browser) == ["/logout", "/runs/1/rerun", "/runs/1/fix"])
        #expect(
            try await forms("/runs/2", browser) == ["/logout", "/runs/2/approve", "/runs/2/reject", "/runs/2/cancel"])
        #expect(
            try await forms("/repositories/alpha/changes/7", browser)
                == ["/logout", "/repositories/alpha/changes/7/land"])
        let reader = try await pages.post("/login", ["token": try await box.token("reader", "read")])
        let readers = ["cookie": try #require(reader.sessionCookie)]
        for path in ["/runs/1", "/runs/2", "/repositories/alpha/changes/7"] {
            #expect(try await forms(path, [:]).isEmpty)
            #expect(try await forms(path, readers) == ["/logout"])
        }
    }

    @Test func `a workflow's form has a field for each parameter, by its type`() async throws {
        let box = try await Box()
        let declared = #"""
            [{"name": "note", "kind": "string", "choices": [], "help": "<b>", "defaultValue": "\"x"},
             {"name": "level", "kind": "integer", "choices": [], "help": ""},
             {"name": "fast", "kind": "bool", "choices": [], "help": "", "defaultValue": "true"},
             {"name": "to", "kind": "choice", "choices": ["a", "b<i>"], "help": "", "defaultValue": "b<i>"}]
            """#
        let parameters = try JSONDecoder().decode([ParameterDeclaration].self, from: Data(declared.utf8))
        box.state.withLock { $0.parameters = parameters }
        let pages = box.pages
        let browser = try await box.browser(pages)
        let first = try await pages.ask("GET", "/repositories/alpha/start", headers: browser)
        #expect(first.status == 200 && first.text.contains("<option value=\"test\">"))
        let target = "/repositories/alpha/start?workflow=test&revision=main"
        let form = try await pages.ask("GET", target, headers: browser).text
        #expect(form.contains("name=\"p.note\" value=\"&quot;x\""))
        #expect(form.contains("name=\"p.level\" value=\"\" inputmode=\"numeric\""))
        #expect(form.contains("<option value=\"b&lt;i&gt;\" selected>"))
        #expect(form.contains("<option value=\"true\" selected>"))
        #expect(!form.contains("<b>") && form.contains("<button>Run</button>"))
        #expect(try await !pages.ask("GET", target).text.contains("<button>Run</button>"))
        #expect(try await pages.ask("GET", "/repositories/beta/start", headers: browser).status == 404)
    }

    // MARK: Quarantine

    private static let source = #"""
        import Pipeline

        // Workflow("test") { is a comment
        let note = "Workflow(\"test\")"

        @main struct Project: WorkflowSet {
            static let test = Workflow("test", on: .pullRequest(into: "main")) {
                Step("unit", run: "echo \"} \(1 + 1)\" ')'")
                /* } */
                Step("lint", run: #"echo "}""#)
            }
            .timeout(.minutes(5))

            static let nightly = Workflow("nightly", on: .schedule("0 3 * * *")) { Step("a", run: "true") }
        }

        """#

    @Test(arguments: ["test", "nightly"], ["Unit/adds()", "a\"b\\(1)\nc\u{202E}\u{0}", "ünit"])
    func `the patch of a quarantine applies, and adds one line`(workflow: String, test: String) async throws {
        let quarantine = Quarantine(test: test, until: "2026-12-31", reason: "flaky")
        let patch = QuarantinePatch(quarantine, workflow: workflow)
        let text = try #require(patch.text(in: ["workflows/main.swift": Self.source, "workflows/Other.swift": "\n"]))
        #expect(text.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        let folder = try TemporaryFolder()
        let repository = try await TestRepository.make(at: folder.path + "/repository")
        try FileManager.default.createDirectory(
            atPath: repository.path + "/workflows", withIntermediateDirectories: true)
        try Self.source.write(toFile: repository.path + "/workflows/main.swift", atomically: true, encoding: .utf8)
        try text.write(toFile: folder.path + "/quarantine.patch", atomically: true, encoding: .utf8)
        try await repository.git(["apply", folder.path + "/quarantine.patch"])
        let after = try String(contentsOfFile: repository.path + "/workflows/main.swift", encoding: .utf8)
        let old = Self.source.split(separator: "\n", omittingEmptySubsequences: false)
        let new = after.split(separator: "\n", omittingEmptySubsequences: false)
        let added = new.difference(from: old).compactMap { change -> Substring? in
            if case .insert(_, let line, _) = change { line } else { nil }
        }
        #expect(new.count == old.count + 1 && added.count == 1)
        #expect(added.first?.trimmingPrefix { $0 == " " }.hasPrefix(".quarantine(\"") == true)
        let place = try #require(new.firstIndex { $0.contains(".quarantine(") })
        #expect(new[place - 1].contains(workflow == "test" ? ".timeout(" : "\"nightly\""))
    }

    @Test(arguments: [
        "", "let a = Workflow(\"other\") { }\n", "let a = Workflow(\"test\") {\n", "let a = Workflow(\"test\") { \"\n",
        "let a = [Workflow(\"test\") { }, b]\n", "let a = Workflow(\"test\") { }\nlet b = Workflow(\"test\") { }\n",
        "let a = Workflow(\"test\") { }", "let a = Workflow(\"test\") { }\r\n", "// Workflow(\"test\") { }\n",
    ])
    func `no patch is made where the place is not certain`(source: String) {
        let patch = QuarantinePatch(
            Quarantine(test: "Unit/adds", until: "2026-12-31", reason: ""), workflow: "test")
        #expect(patch.text(in: ["workflows/main.swift": source]) == nil)
    }

    // MARK: Sign-in at a forge

    @Test(arguments: [true, false, nil]) func `who signs in at the forge may what they may there`(
        mayOperate: Bool?
    ) async throws {
        let box = try await Box()
        let pages = box.pages(at: "https://ci.example.com", signIn: ForgeSignIn(mayOperate: mayOperate))
        #expect(try await pages.ask("GET", "/login").text.contains("Log in with GitHub"))
        let begun = try await pages.ask("GET", "/sign-in?to=%2Fruns%2F1")
        let location = try #require(begun.headers["location"])
        let state = String(try #require(location.firstMatch(of: /state=([0-9a-f]+)/)).1)
        #expect(location.contains("to=https://ci.example.com/sign-in/back"))
        let browser = ["cookie": String(try #require(begun.cookies.first).prefix { $0 != ";" })]
        let back = "/sign-in/back?state=\(state)&code=ada"
        // Another browser, or another state.
        #expect(try await pages.ask("GET", back).status == 403)
        #expect(
            try await pages.ask("GET", "/sign-in/back?state=\(Secrecy.random())&code=ada", headers: browser).status
                == 403)
        let answer = try await pages.ask("GET", back, headers: browser)
        guard let mayOperate else {
            #expect(answer.status == 403 && answer.sessionCookie == nil)
            return
        }
        #expect(answer.status == 303 && answer.headers["location"] == "/runs/1")
        let session = ["cookie": try #require(answer.sessionCookie)]
        let page = try await pages.ask("GET", "/runs/1", headers: session).text
        #expect(page.contains("@ada at GitHub") && page.contains("/runs/1/rerun") == mayOperate)
        #expect(try await pages.ask("GET", back, headers: browser).status == 403)
    }

    private struct ForgeSignIn: PagesSignIn {
        let title = "GitHub"
        let mayOperate: Bool?

        func address(state: String, challenge: String, redirect: String) -> String {
            "https://github.example/login?state=\(state)&challenge=\(challenge)&to=\(redirect)"
        }

        func person(code: String, verifier: String, redirect: String) async throws -> SignedIn? {
            mayOperate.map { SignedIn(name: "@\(code) at GitHub", mayOperate: $0) }
        }
    }
}
