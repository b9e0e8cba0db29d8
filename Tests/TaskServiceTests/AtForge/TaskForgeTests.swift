import Control
import Forges
import Foundation
import Pipeline
import Results
import Store
import Testing

@testable import TaskService

/// Orders about tasks from comments of a forge.
@Suite(.timeLimit(.minutes(1))) struct TaskForgeTests {
    @Test func `an issue is one task, whose words are a stranger's`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        #expect(try await bench.task(ofIssue: 9) == id)
        let task = try #require(try await bench.index.task(id))
        #expect(task.source == .issue(number: 9) && task.title == "It is wrong" && task.text == "Please mend it")
        #expect(task.reporter == "ada at GitHub")
    }

    @Test func `a plan is approved by its version, once, however often the order comes`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        #expect(try await bench.refusal(.approvePlan(version: 1), issue: 9) == .wrongTaskState)
        try await bench.plan(id)
        #expect(try await bench.refusal(.approvePlan(version: 2), issue: 9) == .wrongTaskState)
        #expect(try await bench.state(id) == .planWaits)
        for _ in 0..<2 {
            #expect(try await bench.obey(.approvePlan(version: 1), issue: 9) != nil)
            #expect(try await bench.state(id) == .working)
        }
        #expect(try await bench.events(id).count { $0 == .planApproved(version: 1, reason: nil) } == 1)
    }

    @Test func `a plan that nobody can have read is not approved without its version`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        try await bench.plan(id)
        let early = Date().addingTimeInterval(1)
        #expect(try await bench.refusal(.approvePlan(version: nil), issue: 9, writtenAt: early) == .usage)
        #expect(try await bench.refusal(.approve(head: nil), issue: 9, writtenAt: early) == .usage)
        #expect(try await bench.state(id) == .planWaits)
        // By its version it may be approved at once: that is the plan that was meant.
        #expect(try await bench.obey(.approvePlan(version: 1), issue: 9, writtenAt: early) != nil)
        #expect(try await bench.state(id) == .working)
    }

    @Test func `an approval without words after the plan approves it; with a commit it is none at an issue`()
        async throws
    {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        try await bench.plan(id)
        #expect(try await bench.refusal(.approve(head: "abcdef0"), issue: 9) == .usage)
        #expect(try await bench.obey(.approve(head: nil), issue: 9) != nil)
        #expect(try await bench.state(id) == .working)
    }

    @Test func `a remark is taken once`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        try await bench.plan(id)
        let written = Date().addingTimeInterval(-1)
        for _ in 0..<2 { #expect(try await bench.obey(.remark("smaller"), issue: 9, writtenAt: written) != nil) }
        #expect(try await bench.events(id).count { $0 == .remark(text: "smaller") } == 1)
        #expect(try await bench.state(id) == .planning)
    }

    @Test func `refusing and cancelling end a task, and say so again`() async throws {
        let bench = try await TaskBench()
        let (refused, cancelled) = (try await bench.task(ofIssue: 9), try await bench.task(ofIssue: 10))
        #expect(try await bench.refusal(.refuse(reason: "no"), issue: 9) == .wrongTaskState)
        try await bench.plan(refused)
        for _ in 0..<2 {
            #expect(try await bench.obey(.refuse(reason: "no"), issue: 9) != nil)
            #expect(try await bench.obey(.cancel, issue: 10) != nil)
        }
        #expect(try await bench.state(refused) == .refused)
        #expect(try await bench.state(cancelled) == .cancelled)
        #expect(try await bench.events(refused).last == .planRefused(version: 1, reason: "no"))
    }

    @Test func `a change lands by an order at its issue or at itself, once`() async throws {
        let bench = try await TaskBench()
        let (first, second) = (try await bench.task(ofIssue: 9), try await bench.task(ofIssue: 10))
        #expect(try await bench.refusal(.land, issue: 9) == .wrongTaskState)
        try await bench.ready(first, change: "14")
        try await bench.ready(second, change: "15")
        for _ in 0..<2 { #expect(try await bench.obey(.land, issue: 9) != nil) }
        #expect(try await bench.obey(.land, change: 15) != nil)
        for id in [first, second] {
            #expect(try await bench.state(id) == .landing)
            #expect(try await bench.events(id).count { $0 == .landingAsked } == 1)
        }
    }

    @Test func `what is about no task is left to others, and what can only be about one is refused`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        try await bench.plan(id)
        for command: ForgeCommand in [.rerun(failedOnly: false), .approve(head: nil), .cancel, .land, .fix] {
            #expect(try await bench.obey(command, change: 4) == nil)
        }
        for command: ForgeCommand in [.approvePlan(version: 1), .remark("x"), .refuse(reason: nil)] {
            #expect(try await bench.refusal(command, change: 4) == .unknownTask)
        }
        #expect(try await bench.refusal(.cancel, issue: 3) == .unknownTask)
        #expect(try await bench.refusal(.rerun(failedOnly: true), issue: 9) == .usage)
        #expect(try await bench.state(id) == .planWaits)
    }

    @Test func `a forge is asked about the changes of open tasks, and about the labels that are declared`() async throws
    {
        let bench = try await TaskBench { $0.sources = [.issueLabel("agent"), .redTarget] }
        let (open, ended) = (try await bench.task(ofIssue: 9), try await bench.task(ofIssue: 10))
        try await bench.ready(open, change: "14")
        try await bench.ready(ended, change: "15")
        #expect(try await bench.obey(.refuse(reason: nil), change: 15) != nil)
        let interest = try await bench.forge.hearing().interest("alpha")
        #expect(interest.isDeclared && interest.labels == ["agent"] && interest.changes == [14])
    }

    @Test func `a remark at the change of a task is the task's; one at a task that lands is none`() async throws {
        let bench = try await TaskBench()
        let id = try await bench.task(ofIssue: 9)
        try await bench.ready(id, change: "14")
        func say(_ text: String, change: Int) async throws {
            try await bench.forge.hearing().remark(
                ForgeTasks.Remark(
                    repository: "alpha", change: change, text: text, by: "ada at GitHub", key: "comment 1"))
        }
        try await say("not mine", change: 99)
        try await say("a name", change: 14)
        #expect(try await bench.events(id).last == .remark(text: "a name"))
        #expect(try await bench.state(id) == .working)
        try await bench.ready(id, change: "14")
        #expect(try await bench.obey(.land, change: 14) != nil)
        try await say("too late", change: 14)
        #expect(try await bench.state(id) == .landing)
    }

    @Test func `an issue that can't be read makes no task, and a known one needs no forge`() async throws {
        let bench = try await TaskBench()
        let ada = TaskActor("ada")
        do {
            _ = try await bench.requests.add(TaskDraft(text: "", issue: 9), by: ada)
            Issue.record("a task was made of an issue that nobody has read")
        } catch let failure as TaskFailure {
            #expect(failure.requestError.code == .usage)
        }
        #expect(try await bench.index.tasks(TaskFilter(limit: 10)).isEmpty)
        let id = try await bench.task(ofIssue: 9)
        let (known, isNew) = try await bench.requests.add(TaskDraft(text: "again", issue: 9), by: ada)
        #expect(known.id == id && !isNew)
    }

    @Test func `whoever names an issue says something first, and a long issue is cut`() {
        let issue = ForgeIssue(
            number: 9, title: String(repeating: "ä", count: 400), body: String(repeating: "€", count: 40_000),
            author: ForgeUser(login: "x", id: 1), labels: [], isOpen: true, link: nil, updatedAt: Date())
        let draft = TaskDraft(issue, adding: TaskDraft(repository: "alpha", text: "only the cart"), by: "ada")
        #expect(draft.text.utf8.count <= TaskDraft.longestText && draft.text.hasPrefix("ada adds:\n\nonly the cart\n"))
        #expect((1...TaskDraft.longestTitle).contains(draft.title?.utf8.count ?? 0))
        #expect(draft.source == .issue(number: 9) && draft.key == "issue 9" && draft.repository == "alpha")
        let titled = TaskDraft(issue, adding: TaskDraft(title: "Mine", text: "", crash: Data([1])), by: "ada")
        #expect(titled.title == "Mine" && titled.source == .person)
    }
}
