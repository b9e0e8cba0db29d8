import Foundation
import Pipeline
public import Results

/// A task with everything that happened to it, as commands, pages and programs show it.
public struct TaskStory: Sendable, Equatable, Codable {
    public var task: TaskRecord
    /// From the request to the delivery, always all of them.
    public var stages: [TaskStage]
    /// Each version of the plan, the first one first.
    public var plans: [TaskPlan]
    /// Each try that ended with a commit.
    public var tries: [TaskTry]
    public var events: [TaskEvent]

    /// - Parameter reviews: The runs that are reviews.
    public init(_ task: TaskRecord, _ events: [TaskEvent], reviews: Set<RunID> = []) {
        (self.task, self.events) = (task, events)
        plans = events.compactMap { if case .planned(let plan, _) = $0.what { plan } else { nil } }
        tries = events.compactMap { if case .made(let made) = $0.what { made } else { nil } }
        stages = StageMaker(task, events, reviews: reviews).stages
    }

    /// The newest version of the plan.
    public var plan: TaskPlan? { plans.last }

    /// The try that is offered, else the newest one.
    public var offered: TaskTry? {
        let chosen = events.reversed().lazy.compactMap { event -> Int? in
            if case .chosen(let attempt, _) = event.what { attempt } else { nil }
        }.first
        return tries.last { $0.attempt == chosen } ?? tries.last
    }

    /// The tests that failed on the target and pass with this try.
    public func reproducing(_ attempt: Int) -> [String] {
        events.reversed().lazy.compactMap { event -> [String]? in
            if case .reproduced(_, attempt, let tests) = event.what { tests } else { nil }
        }.first ?? []
    }

    /// The ends of the runs and reviews of a try, the first one first.
    public func checks(of attempt: Int) -> [TaskEvent] {
        events.filter { if case .checked(_, attempt, _, _) = $0.what { true } else { false } }
    }

    /// What people said that no plan and no try has answered yet.
    public var openRemarks: [TaskEvent] {
        let answered = events.lastIndex {
            switch $0.what {
            case .planned, .made: true
            default: false
            }
        }
        return events.suffix(from: answered.map { $0 + 1 } ?? 0).filter {
            if case .remark = $0.what { true } else { false }
        }
    }

    /// The patch to the repository's instructions that was proposed last.
    public var proposedRules: String? {
        events.reversed().lazy.compactMap { event -> String? in
            if case .rulesProposed(let patch) = event.what { patch } else { nil }
        }.first
    }
}

/// Makes the stations of a task from what happened.
private struct StageMaker {
    let task: TaskRecord
    /// Since the task was opened for the last time.
    let events: ArraySlice<TaskEvent>
    let reopened: TaskEvent?
    let reviews: Set<RunID>

    init(_ task: TaskRecord, _ events: [TaskEvent], reviews: Set<RunID>) {
        (self.task, self.reviews) = (task, reviews)
        let again = events.lastIndex { if case .reopened = $0.what { true } else { false } }
        reopened = again.map { events[$0] }
        self.events = again.map { events[($0 + 1)...] } ?? events[...]
    }

    var stages: [TaskStage] {
        var stages = [
            asked, plan, approval, work, reproduction, checks(.checks), checks(.review), change, landing, release,
            delivery,
        ]
        if let end { stages.append(end) }
        var before: Date?
        for place in stages.indices {
            guard let at = stages[place].at else { continue }
            if let before, at >= before { stages[place].seconds = at.timeIntervalSince(before) }
            before = max(before ?? at, at)
        }
        return stages
    }

    private func last<Value>(_ pick: (TaskEvent.What) -> Value?) -> (event: TaskEvent, value: Value)? {
        for event in events.reversed() {
            if let value = pick(event.what) { return (event, value) }
        }
        return nil
    }

    // MARK: Before the work

    private var asked: TaskStage {
        var text = TaskWords.source(of: task)
        if case .reopened(let reason)? = reopened?.what { text += "; opened again: \(reason)" }
        return TaskStage(.asked, .done, at: reopened?.at ?? task.createdAt, text)
    }

    private var plan: TaskStage {
        let planned = last { what -> (TaskPlan, RunID)? in
            if case .planned(let plan, let run) = what { (plan, run) } else { nil }
        }
        if task.state == .planning, task.rules.planning != .none {
            let failed = last { what -> (RunID, String)? in
                if case .planFailed(let run, let reason) = what { (run, reason) } else { nil }
            }
            let why = failed.map { "the answer before was no plan: \($0.value.1)" }
            return TaskStage(
                .plan, .underWay, why ?? planned.map { "version \($0.value.0.version) is answered" } ?? "",
                run: failed?.value.0)
        }
        if let planned {
            return TaskStage(
                .plan, .done, at: planned.event.at, "version \(planned.value.0.version): \(planned.value.0.summary)",
                run: planned.value.1)
        }
        return TaskStage(.plan, task.rules.planning == .none ? .skipped : .open)
    }

    private var approval: TaskStage {
        if task.state == .planWaits { return TaskStage(.approval, .waits) }
        let answer = last { what -> (isApproved: Bool, version: Int, reason: String?)? in
            switch what {
            case .planApproved(let version, let reason): (true, version, reason)
            case .planRefused(let version, let reason): (false, version, reason)
            default: nil
            }
        }
        guard let answer else { return TaskStage(.approval, task.rules.planning == .approved ? .open : .skipped) }
        let word = answer.value.isApproved ? "approved" : "refused"
        return TaskStage(
            .approval, answer.value.isApproved ? .done : .failed, at: answer.event.at,
            "version \(answer.value.version) \(word) by \(answer.event.by ?? "pipectl")"
                + (answer.value.reason.map { ": \($0)" } ?? ""))
    }

    // MARK: The work

    private var chosen: Int? {
        last { if case .chosen(let attempt, _) = $0 { attempt } else { nil } }?.value
    }

    /// The try that later stations are about: the one that is offered, else the newest one.
    private var attempt: Int? {
        chosen ?? last { if case .made(let made) = $0 { made.attempt } else { nil } }?.value
    }

    private var work: TaskStage {
        let ended = last { what -> (made: TaskTry?, run: RunID, text: String)? in
            switch what {
            case .made(let made) where chosen == nil || made.attempt == chosen:
                (made, made.run, TaskWords.size(of: made))
            case .tryFailed(let agent, let attempt, let run, let reason) where chosen == nil:
                (nil, run, "try \(attempt) by \(agent) failed: \(reason)")
            default: nil
            }
        }
        if task.state == .working {
            return TaskStage(.work, .underWay, ended.map { "before: \($0.value.text)" } ?? "", run: ended?.value.run)
        }
        guard let ended else { return TaskStage(.work, .open) }
        return TaskStage(
            .work, ended.value.made == nil ? .failed : .done, at: ended.event.at, ended.value.text,
            run: ended.value.run)
    }

    private var reproduction: TaskStage {
        guard task.needsReproduction else { return TaskStage(.reproduction, .skipped) }
        let found = last { [attempt] what -> (isShown: Bool, run: RunID, text: String)? in
            switch what {
            case .reproduced(let run, attempt, let tests): (true, run, TaskWords.reproduced(by: tests))
            case .notReproduced(let run, attempt, let reason): (false, run, reason)
            default: nil
            }
        }
        guard let found else { return TaskStage(.reproduction, task.state == .checking ? .underWay : .open) }
        return TaskStage(
            .reproduction, found.value.isShown ? .done : .failed, at: found.event.at, found.value.text,
            run: found.value.run)
    }

    /// The workflows' runs of a try, or its reviews.
    private func checks(_ name: TaskStage.Name) -> TaskStage {
        if name == .review, task.rules.reviewer == nil { return TaskStage(name, .skipped) }
        // Of each run, the newest word.
        var ended: [RunID: (event: TaskEvent, verdict: Verdict, reason: String)] = [:]
        for event in events {
            guard case .checked(let run, let attempt, let verdict, let reason) = event.what, attempt == self.attempt,
                reviews.contains(run) == (name == .review)
            else { continue }
            ended[run] = (event, verdict, reason)
        }
        guard let last = ended.values.max(by: { $0.event.number < $1.event.number }) else {
            return TaskStage(name, task.state == .checking ? .underWay : .open)
        }
        let bad = ended.filter { $0.value.verdict.isObstacle }.min { $0.key < $1.key }
        let run = bad?.key ?? ended.first { $0.value.event.number == last.event.number }?.key
        let shown = bad?.value ?? last
        let isGoingOn =
            task.state == .checking && bad == nil && name == .checks && ended.count < task.rules.workflows.count
        return TaskStage(
            name, bad != nil ? .failed : isGoingOn ? .underWay : .done, at: isGoingOn ? nil : last.event.at,
            "\(shown.verdict.title)" + (shown.reason.isEmpty ? "" : ": \(shown.reason)"), run: run)
    }

    // MARK: After the work

    private var change: TaskStage {
        let opened = last { what -> (name: String, commit: String)? in
            if case .changeOpened(let name, _, let commit) = what { (name, commit) } else { nil }
        }
        guard let opened else { return TaskStage(.change, .open) }
        return TaskStage(
            .change, .done, at: opened.event.at, "\(opened.value.name) at \(opened.value.commit.prefix(10))")
    }

    private var landing: TaskStage {
        if let landed = last({ if case .landed(let commit) = $0 { commit } else { nil } }) {
            return TaskStage(.landing, .done, at: landed.event.at, "landed as \(landed.value.prefix(10))")
        }
        let failed = last { if case .landingFailed(let reason) = $0 { reason } else { nil } }
        switch task.state {
        case .landing:
            let asked = last { if case .landingAsked = $0 { true } else { nil } }
            return TaskStage(.landing, .underWay, asked?.event.by.map { "asked by \($0)" } ?? "")
        case .ready: return TaskStage(.landing, .waits, failed.map { "it did not land: \($0.value)" } ?? "")
        default: return TaskStage(.landing, .open)
        }
    }

    private var release: TaskStage {
        let found = last { what -> (version: String, run: RunID)? in
            if case .released(let version, let run) = what { (version, run) } else { nil }
        }
        guard let found else { return TaskStage(.release, .open) }
        return TaskStage(.release, .done, at: found.event.at, "version \(found.value.version)", run: found.value.run)
    }

    private var delivery: TaskStage {
        let places = events.compactMap { event -> (Date, String)? in
            if case .delivered(_, let place) = event.what { (event.at, place) } else { nil }
        }
        guard let first = places.first else { return TaskStage(.delivery, .open) }
        return TaskStage(
            .delivery, task.state == .delivered ? .done : .underWay, at: first.0,
            places.map(\.1).joined(separator: ", "))
    }

    private var end: TaskStage? {
        guard [.refused, .cancelled, .givenUp, .answered].contains(task.state) else { return nil }
        return TaskStage(
            .end, task.state == .answered ? .done : .failed, at: events.last?.at,
            task.state.title + (task.reason.isEmpty ? "" : ": \(task.reason)"))
    }
}

extension Verdict {
    /// Whether a try with this verdict is not offered.
    fileprivate var isObstacle: Bool { self != .passed && self != .notApplicable }
}
