import Foundation
import Pipeline
import Results

@testable import Tasks

/// The way of one task: records what its sequence wants, and lets runs end as a test says.
struct Way {
    var task: TaskRecord
    var events: [TaskEvent] = []
    var runs: [TaskRun] = []
    private var clock = Date(timeIntervalSince1970: 1_000)

    init(crash: Bool = false, _ change: (inout TasksDeclaration) -> Void = { _ in }) {
        var rules = TasksDeclaration(
            branch: "main", agents: [AgentCommand("one", plan: "p", work: "w")], workflows: ["test"])
        rules.reviewer = AgentCommand("critic", plan: "p", work: "w", review: "r")
        change(&rules)
        task = TaskRecord(
            id: 12, repository: "shop", branch: "main", title: "It crashes", text: "", source: .person,
            reporter: "ada", key: "k", createdAt: Date(timeIntervalSince1970: 0), commit: "c0", rules: rules)
        if crash { task.source = .crash(signature: "ab") }
        add(.created)
    }

    /// Its plan is approved, and its agents work.
    static func working(crash: Bool = false, _ change: (inout TasksDeclaration) -> Void = { _ in }) -> Way {
        var way = Way(crash: crash) {
            $0.planning = .none
            change(&$0)
        }
        way.start()
        return way
    }

    /// The first try passed its check, and its review ended.
    static func reviewed(
        verdict: Verdict, _ change: (inout TasksDeclaration) -> Void = { _ in }
    ) -> Way {
        var way = Way.working(change)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .passed)
        way.settle()
        way.start()
        way.end(3, verdict, "unclear")
        way.settle()
        return way
    }

    static func ready(_ change: (inout TasksDeclaration) -> Void = { _ in }) -> Way {
        var way = Way(change)
        way.add(.planned(plan: Way.plan(1), run: 100))
        way.add(.planApproved(version: 1, reason: nil))
        way.start()
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .passed)
        way.settle()
        way.start()
        way.end(3, .passed)
        way.settle()
        way.add(.changeOpened(name: "pipectl/task-12", link: nil, commit: "c1"))
        return way
    }

    var next: TaskNext { TaskSequence(task, events, runs).next() }
    var roles: [TaskRole] { if case .begin(let roles, _, _) = next { roles } else { [] } }
    var begun: [String] { roles.map(\.inWords) }
    var live: [String] { runs.filter { $0.verdict == nil }.map(\.role.inWords) }
    var last: TaskEvent.What? { events.last?.what }
    var state: TaskState? { next.state }
    var opens: TaskTry? { if case .open(let made) = next { made } else { nil } }
    /// The tests that were recorded as showing what is wrong.
    var shown: [String]? {
        events.lazy.compactMap { if case .reproduced(_, _, let tests) = $0.what { tests } else { nil } }.last
    }
    var plans: [Int] { events.compactMap { if case .planned(let plan, _) = $0.what { plan.version } else { nil } } }
    var chosen: Int? {
        events.lazy.compactMap { if case .chosen(let attempt, _) = $0.what { attempt } else { nil } }.last
    }

    mutating func add(_ what: TaskEvent.What) {
        clock += 1
        events.append(TaskEvent(task: 12, number: events.count + 1, at: clock, what: what))
    }

    /// Begins the first run that is wanted and does not exist.
    @discardableResult
    mutating func startOne() -> Bool {
        guard let role = roles.first(where: { role in !runs.contains { $0.role == role } }) else { return false }
        clock += 1
        runs.append(TaskRun(id: RunID(runs.count + 1), role: role, createdAt: clock))
        return true
    }

    /// Begins all runs that are wanted now.
    mutating func start() {
        for role in roles where !runs.contains(where: { $0.role == role }) {
            clock += 1
            runs.append(TaskRun(id: RunID(runs.count + 1), role: role, createdAt: clock))
        }
    }

    /// Records everything that the sequence wants recorded.
    mutating func settle() {
        while case .record(let what) = next { add(what) }
    }

    mutating func end(
        _ run: RunID, _ verdict: Verdict, _ reason: String = "", failed: [String] = [], passed: Set<String> = [],
        redBefore: Set<String>? = nil, greenBefore: Set<String> = []
    ) {
        guard let index = runs.firstIndex(where: { $0.id == run }) else { return }
        (runs[index].verdict, runs[index].reason) = (verdict, reason)
        (runs[index].failed, runs[index].passed, runs[index].redBefore) = (failed, passed, redBefore)
        runs[index].greenBefore = greenBefore
        let role = runs[index].role
        guard role.part == .comparing, [.passed, .failed].contains(verdict) else { return }
        for other in runs.indices where runs[other].role.part == .reproducing {
            if runs[other].role.workflow == role.workflow { runs[other].redBefore = Set(failed) }
        }
    }

    mutating func endPlan(_ run: RunID, files: [String] = ["Sources/Cart.swift"]) {
        guard let index = runs.firstIndex(where: { $0.id == run }) else { return }
        runs[index].verdict = .passed
        var outcome = TaskOutcome(role: runs[index].role)
        // An agent may say any version; it is not asked.
        outcome.plan = Self.plan(7, files: files)
        runs[index].outcome = outcome
    }

    mutating func endWork(_ run: RunID, attempt: Int = 1, lines: Int = 5, unread: Int? = nil) {
        guard let index = runs.firstIndex(where: { $0.id == run }) else { return }
        runs[index].verdict = .passed
        var outcome = TaskOutcome(role: runs[index].role)
        outcome.made = TaskTry(
            attempt: attempt, agent: runs[index].role.agent ?? "", run: run, commit: "c\(attempt)",
            ref: "refs/pipectl/tasks/12/\(attempt)", files: ["Sources/Cart.swift"], additions: lines, deletions: 0,
            unplanned: [], summary: nil)
        outcome.unread = unread
        runs[index].outcome = outcome
    }

    static func plan(_ version: Int, files: [String] = ["Sources/Cart.swift"]) -> TaskPlan {
        TaskPlan(version: version, summary: "s", approach: "a", files: files, tests: [], tradeoffs: "")
    }

    /// Goes on to its end. At each moment one thing happens, as the numbers say: one event is recorded, one of the wanted
    /// runs is begun, or a live run ends. So the process may have died between any two of them, and runs may have ended
    /// before what came earlier was recorded.
    mutating func goOn(_ numbers: inout some RandomNumberGenerator) {
        for _ in 0..<2_000 {
            let live = runs.filter { $0.verdict == nil }
            if !live.isEmpty, Int.random(in: 0..<3, using: &numbers) == 0 {
                let run = live[Int.random(in: 0..<live.count, using: &numbers)]
                end(run, isGood: Int.random(in: 0..<3, using: &numbers) > 0)
                continue
            }
            switch next {
            case .record(let what): add(what)
            case .begin: if !startOne(), let first = live.first { end(first, isGood: true) }
            case .wait(.planWaits, _):
                let isLiked = Int.random(in: 0..<3, using: &numbers) > 0
                add(isLiked ? .planApproved(version: plans.last ?? 0, reason: nil) : .remark(text: "again"))
            case .wait(.ready, _), .follow, .done: return
            case .wait: if let first = live.first { end(first, isGood: true) } else { return }
            case .open(let made): add(.changeOpened(name: task.changeBranch, link: nil, commit: made.commit))
            }
        }
    }

    private mutating func end(_ run: TaskRun, isGood: Bool) {
        switch (run.role.part, isGood) {
        case (.planning, true): endPlan(run.id)
        case (.working, true): endWork(run.id, attempt: run.role.attempt)
        case (.reproducing, true): end(run.id, .failed, failed: ["Cart/empty"])
        case (.reproducing, false): end(run.id, .passed)
        case (.comparing, true): end(run.id, .passed)
        case (.checking, true), (.reviewing, true): end(run.id, .passed, passed: ["Cart/empty"])
        case (_, false): end(run.id, run.id % 4 == 0 ? .infrastructure : .failed, "bad")
        }
    }
}

extension TaskNext {
    /// The state that the task waits in.
    var state: TaskState? {
        switch self {
        case .wait(let state, _), .begin(_, let state, _): state
        default: nil
        }
    }
}
