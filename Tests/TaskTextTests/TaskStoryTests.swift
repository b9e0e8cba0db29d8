import Foundation
import Pipeline
import Results
import Testing

@testable import TaskText

@Suite struct TaskStoryTests {
    private func states(_ story: TaskStory) -> [TaskStage.Name: TaskStage.State] {
        Dictionary(story.stages.map { ($0.name, $0.state) }) { first, _ in first }
    }

    private func story(_ state: TaskState, first count: Int, _ change: (inout TaskRecord) -> Void = { _ in })
        -> TaskStory
    {
        TaskStory(
            TaskSamples.record(state, change), TaskSamples.events(Array(TaskSamples.whole.prefix(count))),
            reviews: TaskSamples.reviews)
    }

    @Test func `a delivered task has all its stations, with times`() throws {
        let story = story(.delivered, first: TaskSamples.whole.count)
        #expect(story.stages.map(\.name) == TaskStage.Name.allCases.dropLast())
        #expect(story.stages.allSatisfy { $0.state == .done && $0.at != nil })
        let approval = try #require(story.stages.first { $0.name == .approval })
        #expect(approval.seconds == 10 && approval.text == "version 2 approved by ada: good")
        #expect(story.stages.first { $0.name == .review }?.run == 36)
        #expect(story.stages.first { $0.name == .reproduction }?.run == 34)
        #expect(story.offered?.attempt == 2 && story.plan?.version == 2 && story.plans.count == 2)
        #expect(story.reproducing(1) == ["CartTests/empty()"] && story.reproducing(3).isEmpty)
        #expect(story.checks(of: 1).count == 2)
    }

    @Test(arguments: [
        (TaskState.planning, 1, TaskStage.Name.plan, TaskStage.State.underWay),
        (.planWaits, 2, .approval, .waits), (.planning, 3, .plan, .underWay), (.planWaits, 4, .approval, .waits),
        (.working, 5, .work, .underWay), (.checking, 6, .reproduction, .underWay), (.checking, 7, .checks, .underWay),
        (.checking, 8, .review, .underWay), (.working, 9, .work, .underWay), (.checking, 10, .reproduction, .underWay),
        (.ready, 15, .landing, .waits), (.landing, 16, .landing, .underWay), (.landed, 17, .release, .open),
        (.released, 18, .delivery, .open),
    ])
    func `each state has its station`(
        state: TaskState, count: Int, name: TaskStage.Name, expected: TaskStage.State
    ) {
        let states = states(story(state, first: count))
        #expect(states[name] == expected)
        #expect(states[.end] == nil)
    }

    @Test func `a try that failed its review is mended`() {
        #expect(states(story(.checking, first: 9))[.review] == .failed)
        let mending = story(.working, first: 9)
        #expect(mending.stages.first { $0.name == .work }?.text.contains("try 1 by claude") == true)
        // The second try has not been reviewed yet.
        #expect(states(story(.checking, first: 10))[.review] == .underWay)
    }

    @Test func `what a task does not need is skipped`() {
        let states = states(
            story(.working, first: 1) { task in
                (task.rules.planning, task.rules.reviewer, task.rules.reproduction) = (.none, nil, .never)
            })
        for name in [TaskStage.Name.plan, .approval, .review, .reproduction] { #expect(states[name] == .skipped) }
    }

    @Test(arguments: [TaskState.refused, .cancelled, .givenUp, .answered]) func `another end is a station of its own`(
        state: TaskState
    ) {
        let story = story(state, first: 4) { $0.reason = "not now" }
        #expect(story.stages.last?.name == .end && story.stages.last?.text.contains("not now") == true)
    }

    @Test func `a task that was opened again begins anew`() {
        let all = TaskSamples.whole + [(nil, TaskEvent.What.reopened(reason: "seen in 1.2.1"))]
        let story = TaskStory(
            TaskSamples.record(.planning), TaskSamples.events(all), reviews: TaskSamples.reviews)
        let states = states(story)
        #expect(states[.plan] == .underWay && states[.landing] == .open && states[.delivery] == .open)
        #expect(story.stages[0].text.contains("seen in 1.2.1"))
    }

    @Test func `remarks that nothing has answered are open`() {
        #expect(story(.planning, first: 3).openRemarks.count == 1)
        #expect(story(.planWaits, first: 4).openRemarks.isEmpty)
    }

    @Test func `a report has the way, the plan, the work and the next command, and no control characters`() {
        let text = TaskReport(story(.ready, first: 15)).text
        #expect(text.contains("pipectl task land 12") && text.contains("Guard the empty cart"))
        #expect(text.contains("Cart.total() at Sources/Cart.swift:7"))
        let hostile = "a\u{1B}[31m\nb\u{202E}c"
        let story = TaskStory(
            TaskSamples.record(.planWaits) { task in
                (task.title, task.text, task.reason, task.reporter) = (hostile, hostile, hostile, hostile)
                task.crash?.title = hostile
            },
            TaskSamples.events([
                (hostile, .remark(text: hostile)), (nil, .made(attempt: TaskSamples.made(1, unplanned: [hostile]))),
                (nil, .rulesProposed(patch: hostile)),
            ]))
        let report = TaskReport(story)
        for text in [report.text] + report.history {
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
        }
        #expect(report.text.contains("(not in the plan)"))
        #expect(report.history.allSatisfy { !$0.contains("\n") })
    }

    @Test func `a story is the same after JSON`() throws {
        let story = story(.delivered, first: TaskSamples.whole.count)
        #expect(try JSONDecoder().decode(TaskStory.self, from: JSONEncoder().encode(story)) == story)
    }

    @Test(arguments: [TaskState.planWaits, .ready, .working, .delivered, .refused])
    func `the next command fits the state`(
        state: TaskState
    ) {
        let commands = TaskWords.next(TaskSamples.record(state), plan: TaskSamples.plan(2))
        #expect(commands.isEmpty == state.isEnded)
        #expect(commands.allSatisfy { $0.hasPrefix("pipectl task ") && $0.contains(" 12") })
        if state == .planWaits { #expect(commands.first == "pipectl task approve 12 --plan 2") }
    }
}
