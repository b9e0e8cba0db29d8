import Foundation
import Pipeline
import Results
import Tasks
import Testing

@testable import TaskService

@Suite struct TaskRecordsTests {
    private static func record() -> TaskRecord {
        var task = TaskRecord(
            id: 12, repository: "shop", branch: "main", title: "It `crashes` @all", text: "", source: .person,
            reporter: "ada", key: "k", createdAt: Date(timeIntervalSince1970: 0), commit: "c0",
            rules: TasksDeclaration(
                branch: "main", agents: [AgentCommand("one", plan: "p", work: "w")], workflows: ["test"]))
        task.change = "7"
        return task
    }

    private static func event(_ number: Int, _ what: TaskEvent.What) -> TaskEvent {
        TaskEvent(task: 12, number: number, at: Date(timeIntervalSince1970: 1), what: what)
    }

    private static func made(_ attempt: Int) -> TaskTry {
        TaskTry(
            attempt: attempt, agent: "one", run: 3, commit: "c\(attempt)", ref: "r", files: ["a.swift"], additions: 4,
            deletions: 1, unplanned: ["b`.swift"], summary: "Look, <img> and @ada")
    }

    @Test func `the last try of a test counts`() {
        let tests = [
            TestResult(suite: "Cart", name: "a", status: .failed, attempt: 1),
            TestResult(suite: "Cart", name: "a", status: .passed, attempt: 2),
            TestResult(suite: "Cart", name: "b", status: .errored, attempt: 1),
            TestResult(suite: "Cart", name: "c", status: .skipped, attempt: 1),
        ]
        let (failed, passed) = TaskFacts.results(tests)
        #expect(failed == ["Cart/b"])
        #expect(passed == ["Cart/a"])
    }

    @Test func `an agent decides nothing, and sees no other task from inside one`() {
        let agent = TaskActor("claude", ownTask: 12)
        #expect(throws: TaskFailure.needsPerson(wanted: "land")) { try agent.requirePerson(to: "land") }
        #expect(throws: TaskFailure.unknown(13)) { try agent.requireSight(of: 13) }
        #expect(throws: Never.self) { try agent.requireSight(of: 12) }
        #expect(throws: TaskFailure.needsPerson(wanted: "land")) {
            try TaskActor("claude", isAgent: true).requirePerson(to: "land")
        }
        #expect(throws: Never.self) { try TaskActor("ada").requirePerson(to: "land") }
    }

    @Test func `reporters are told what became of their task, and each thing once`() {
        let task = Self.record()
        let landed = TaskTeller.news(Self.event(9, .landed(commit: "abc")), task)
        #expect(landed?.what == "landed" && landed?.event == 9 && landed?.reporter == "ada")
        let opened = TaskTeller.news(Self.event(8, .changeOpened(name: "7", link: "https://x", commit: "c")), task)
        #expect(opened?.what == "ready" && opened?.link == "https://x")
        #expect(TaskTeller.news(Self.event(2, .made(attempt: Self.made(1))), task) == nil)
        #expect(TaskTeller.told(Self.event(10, .told(what: "event 9, landed, by the line of the repository"))) == 9)
        #expect(TaskTeller.told(Self.event(10, .told(what: "a comment at the forge"))) == nil)
    }

    @Test func `the change was opened by what came last, and not before the task was taken up again`() {
        var events = [
            Self.event(1, .created), Self.event(2, .changeOpened(name: "7", link: nil, commit: "c1")),
            Self.event(3, .changeOpened(name: "7", link: nil, commit: "c2")), Self.event(4, .landed(commit: "x")),
        ]
        #expect(TaskChanges.opened(events)?.commit == "c2")
        events.append(Self.event(5, .reopened(reason: "again")))
        #expect(TaskChanges.opened(events) == nil)
    }

    @Test func `the text of a change quotes what agents say`() {
        let made = Self.made(1)
        let role = TaskRole(task: 12, part: .checking, attempt: 1, workflow: "test")
        let known = TaskFacts.Known(
            task: Self.record(),
            events: [
                Self.event(1, .created), Self.event(2, .made(attempt: made)),
                Self.event(3, .reproduced(run: 4, attempt: 1, tests: ["Cart/a"])),
                Self.event(4, .checked(run: 5, attempt: 1, verdict: .passed, reason: "")),
                Self.event(5, .checked(run: 6, attempt: 2, verdict: .failed, reason: "")),
            ], runs: [TaskRun(id: 5, role: role, createdAt: Date(timeIntervalSince1970: 1), verdict: .passed)],
            indexed: [:])
        let text = ChangeText(of: made, known)
        #expect(text.body.contains("> Look, &lt;img> and @\u{200B}ada"))
        #expect(text.body.contains("- `b'.swift`"))
        #expect(text.body.contains("run 4 fails: `Cart/a`"))
        #expect(text.body.contains("- `test`: passed, run 5"))
        #expect(!text.body.contains("run 6"))
    }
}
