import Foundation
import Pipeline
import Results

/// A task at each point of its way.
enum TaskSamples {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)

    static func rules(_ change: (inout TasksDeclaration) -> Void = { _ in }) -> TasksDeclaration {
        var rules = TasksDeclaration(
            branch: "main", agents: [AgentCommand("claude", plan: "p", work: "w")], workflows: ["test"])
        rules.reviewer = AgentCommand("codex", plan: "p", work: "w", review: "r")
        change(&rules)
        return rules
    }

    static func record(_ state: TaskState, _ change: (inout TaskRecord) -> Void = { _ in }) -> TaskRecord {
        var task = TaskRecord(
            id: 12, repository: "app", branch: "main", title: "The cart's total crashes", text: "It crashes.",
            source: .crash(signature: "ab12"), reporter: "ada", key: "crash:ab12", createdAt: start,
            commit: commit(1), rules: rules())
        task.crash = TaskCrash(
            signature: "ab12", title: "EXC_BAD_ACCESS in Cart.total()", release: "1.2.0", count: 3,
            frames: [.init(function: "Cart.total()", file: "Sources/Cart.swift", line: 7)])
        task.state = state
        change(&task)
        return task
    }

    static func commit(_ number: Int) -> String { String(repeating: "\(number % 10)", count: 40) }

    static func plan(_ version: Int, files: [String] = ["Sources/Cart.swift"]) -> TaskPlan {
        TaskPlan(
            version: version, summary: "Guard the empty cart", approach: "Return zero.\nSay so in the comment.",
            files: files, tests: ["an empty cart costs nothing"], tradeoffs: "None.")
    }

    static func made(_ attempt: Int, unplanned: [String] = []) -> TaskTry {
        TaskTry(
            attempt: attempt, agent: "claude", run: RunID(20 + attempt), commit: commit(attempt),
            ref: "refs/pipectl/tasks/12/\(attempt)", files: ["Sources/Cart.swift"] + unplanned, additions: 3,
            deletions: 1, unplanned: unplanned, summary: "Guarded it.")
    }

    /// Events, ten seconds apart.
    static func events(_ all: [(by: String?, what: TaskEvent.What)]) -> [TaskEvent] {
        all.enumerated().map { place, one in
            TaskEvent(
                task: 12, number: place + 1, at: start.addingTimeInterval(Double(place) * 10), by: one.by,
                what: one.what)
        }
    }

    /// From the crash to the delivery.
    static let whole: [(by: String?, what: TaskEvent.What)] = [
        ("ada", .created), (nil, .planned(plan: plan(1), run: 20)), ("ada", .remark(text: "Say so in a comment.")),
        (nil, .planned(plan: plan(2), run: 21)), ("ada", .planApproved(version: 2, reason: "good")),
        (nil, .made(attempt: made(1))), (nil, .reproduced(run: 31, attempt: 1, tests: ["CartTests/empty()"])),
        (nil, .checked(run: 32, attempt: 1, verdict: .passed, reason: "all steps passed")),
        (nil, .checked(run: 33, attempt: 1, verdict: .failed, reason: "1 finding")), (nil, .made(attempt: made(2))),
        (nil, .reproduced(run: 34, attempt: 2, tests: ["CartTests/empty()"])),
        (nil, .checked(run: 35, attempt: 2, verdict: .passed, reason: "all steps passed")),
        (nil, .checked(run: 36, attempt: 2, verdict: .passed, reason: "nothing found")),
        (nil, .chosen(attempt: 2, reason: "it passed")),
        (nil, .changeOpened(name: "pipectl/task-12", link: nil, commit: commit(2))), ("ada", .landingAsked),
        (nil, .landed(commit: commit(3))), (nil, .released(version: "1.2.1", run: 40)),
        (nil, .delivered(version: "1.2.1", to: "folder /srv/app")),
    ]
    static let reviews: Set<RunID> = [33, 36]
}
