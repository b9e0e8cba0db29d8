import Control
import Foundation
import PageMarkup
import Pipeline
import Results
import Store
import Synchronization
import TestSupport
import Testing

@testable import Pages

extension Sample {
    /// A task with a plan in two versions, a try with a file that no plan has, and its checks.
    static func taskView(_ state: TaskState, _ text: String = "It crashes.") -> TaskView {
        var rules = TasksDeclaration(
            branch: "main", agents: [AgentCommand("claude", plan: "p", work: "w")], workflows: ["test"])
        rules.reviewer = AgentCommand("codex", plan: "p", work: "w", review: "r")
        var task = TaskRecord(
            id: 1, repository: "alpha", branch: "main", title: text, text: "\(text) twice",
            source: .crash(signature: "ab"), reporter: text, key: "k", createdAt: start, commit: commit(1), rules: rules
        )
        task.crash = TaskCrash(
            signature: "ab", title: text, release: text, frames: [.init(function: text, file: text, line: 3)])
        task.files = [ReleaseRecord.File(name: text, bytes: 3, sha256: String(repeating: "a", count: 64))]
        (task.state, task.reason, task.change, task.changeLink) = (state, text, "pipectl/task-1", "javascript:\(text)")
        func plan(_ version: Int) -> TaskPlan {
            TaskPlan(
                version: version, summary: text, approach: "\(text) \(version)", files: [text], tests: [text],
                tradeoffs: text)
        }
        let made = TaskTry(
            attempt: 1, agent: text, run: 1, commit: commit(2), ref: "r", files: [text, "other"], additions: 1,
            deletions: 2, unplanned: ["other"], summary: text)
        let all: [TaskEvent.What] = [
            .created, .planned(plan: plan(1), run: 1), .remark(text: text), .planned(plan: plan(2), run: 1),
            .planApproved(version: 2, reason: text), .made(attempt: made),
            .reproduced(run: 1, attempt: 1, tests: [text]),
            .checked(run: 1, attempt: 1, verdict: .failed, reason: text), .chosen(attempt: 1, reason: text),
            .changeOpened(name: text, link: text, commit: commit(2)), .remark(text: text),
            .rulesProposed(patch: "+\(text)\n"),
            .told(what: text), .landingFailed(reason: text),
        ]
        return TaskView(
            task: task,
            events: all.enumerated().map { place, what in
                TaskEvent(
                    task: 1, number: place + 1, at: start.addingTimeInterval(Double(place)), by: text, what: what)
            }, runs: [Box.summary(1) { $0.task = TaskRole(task: 1, part: .reviewing, attempt: 1, agent: text) }])
    }
}

@Suite struct TaskPagesTests {
    private func box(_ state: TaskState) async throws -> Box {
        let box = try await Box()
        box.state.withLock { $0.tasks = [Sample.taskView(state)] }
        return box
    }

    @Test(arguments: [
        (TaskState.planWaits, ["approve", "remark", "refuse", "cancel"]),
        (.ready, ["land", "remark", "refuse", "cancel"]),
        (.working, ["remark", "cancel"]), (.delivered, []), (.refused, []),
    ])
    func `a task has the buttons of its state, for whoever may use them`(
        state: TaskState, verbs: [String]
    ) async throws {
        let box = try await box(state)
        let pages = box.pages
        func forms(_ headers: [String: String]) async throws -> Set<String> {
            let text = try await pages.ask("GET", "/tasks/1", headers: headers).text
            return Set(text.matches(of: /method="post" action="([^"]+)"/).map { String($0.1) })
        }
        let wanted = Set(verbs.map { "/tasks/1/\($0)" })
        #expect(try await forms(try await box.browser(pages)) == wanted.union(["/logout"]))
        #expect(try await forms([:]).isEmpty)
    }

    @Test func `one page has what is needed to decide`() async throws {
        let box = try await box(.ready)
        let page = try await box.pages.ask("GET", "/tasks/1").text
        for id in [
            "state", "actions", "crash", "asked", "plan", "done", "difference", "remarks", "rules", "way", "runs",
            "history",
        ] {
            #expect(page.contains("<section id=\"\(id)\">"), "no section \(id)")
        }
        #expect(page.contains("Not in the plan: other"))
        #expect(page.contains("<span class=\"d-add\">+let total = 0</span>"))
        #expect(page.contains("Plan, version 2") && page.contains("What is new since version 1"))
        // An address that could act is no link.
        #expect(!page.contains("javascript:It"))
    }

    @Test func `tasks that wait for a person come first, and on the overview`() async throws {
        let box = try await box(.ready)
        var draft = Sample.taskView(.ready).task
        draft.id = 0
        _ = try await box.index.addTask(draft, context: nil, by: "ada")
        let list = try await box.pages.ask("GET", "/tasks").text
        let waiting = try #require(list.firstRange(of: "id=\"waiting\"")),
            going = try #require(list.firstRange(of: "id=\"going\""))
        let card = try #require(list.firstRange(of: "href=\"/tasks/1\""))
        #expect(waiting.lowerBound < card.lowerBound && card.lowerBound < going.lowerBound)
        #expect(try await box.pages.ask("GET", "/").text.contains("Tasks that wait for a person"))
        #expect(try await box.pages.ask("GET", "/repositories/alpha").text.contains("href=\"/tasks/1\""))
    }

    @Test func `a form with files hands over work`() async throws {
        let box = try await box(.planning)
        let pages = box.pages
        let browser = try await box.browser(pages)
        let form = try await pages.ask("GET", "/tasks/new", headers: browser).text
        #expect(form.contains("enctype=\"multipart/form-data\"") && form.contains("type=\"file\" name=\"crash\""))
        #expect(try await !pages.ask("GET", "/tasks/new").text.contains("method=\"post\""))
        let token = try await pages.formToken(browser)
        func send(_ token: String) async throws -> PageResponse {
            let fields = [
                ("name=\"token\"", token), ("name=\"repository\"", "alpha"), ("name=\"text\"", "It crashes."),
                ("name=\"title\"", ""), ("name=\"crash\"; filename=\"a.ips\"", "{}\r\n"),
                ("name=\"files\"; filename=\"b.txt\"", "b"), ("name=\"files\"; filename=\"\"", ""),
            ]
            let body =
                fields.map { "--x\r\nContent-Disposition: form-data; \($0.0)\r\n\r\n\($0.1)\r\n" }.joined()
                + "--x--\r\n"
            let headers = browser.merging(["content-type": "multipart/form-data; boundary=x"]) { $1 }
            return try await pages.ask("POST", "/tasks", headers: headers, body: body)
        }
        #expect(try await send(FormMark.text).status == 403 && box.drafts.withLock { $0.isEmpty })
        let answer = try await send(token)
        #expect(answer.status == 303 && answer.headers["location"] == "/tasks/1")
        let draft = try #require(box.drafts.withLock { $0.first })
        #expect(draft.text == "It crashes." && draft.repository == "alpha" && draft.title == nil)
        #expect(draft.crash == Data("{}\r\n".utf8) && draft.files == [.init(name: "b.txt", content: Data("b".utf8))])
    }

    @Test func `only who may act sends files`() async throws {
        let box = try await box(.planning)
        let request = try #require(PageRequest(method: "POST", target: "/api/v1/tasks", headers: [:]))
        #expect(PageActions.handsOverWork(request))
        for target in ["/api/v1/tasks/1", "/tasks/1/remark", "/runs/1/rerun", "/login", "/tasks/"] {
            let other = try #require(PageRequest(method: "POST", target: target, headers: [:]))
            #expect(PageActions.handsOverWork(other) == (target == "/tasks/"))
        }
        let headers = ["authorization": "Bearer \(try await box.token("reader", "read"))"]
        #expect(try await box.pages.ask("POST", "/api/v1/tasks", headers: headers, body: "{}").status == 403)
        #expect(box.drafts.withLock { $0.isEmpty })
    }

    @Test(arguments: [
        ("/api/v1/tasks/1/approve", "{}"), ("/api/v1/tasks/1/approve", #"{"plan": "2"}"#),
        ("/api/v1/tasks/1/land", "{}"),
        ("/api/v1/tasks/1/land", #"{"commit": "abc"}"#), ("/api/v1/tasks/1/remark", "{}"),
        ("/api/v1/tasks", #"{"crash": "not base64!"}"#),
    ])
    func `a decision without what was looked at does nothing`(path: String, body: String) async throws {
        let box = try await box(.ready)
        let headers = [
            "authorization": "Bearer \(try await box.token("bot", "operate"))", "content-type": "application/json",
        ]
        #expect(try await box.pages.ask("POST", path, headers: headers, body: body).status == 400)
        #expect(box.acted.withLock { $0 }.isEmpty)
    }

    @Test(arguments: ["/tasks/9", "/tasks/x", "/tasks/-1", "/tasks/1/approve", "/api/v1/tasks/9", "/api/v1/tasks/x"])
    func `there is no other task`(path: String) async throws {
        #expect(try await box(.ready).pages.ask("GET", path).status == 404)
    }
}
