import Pipeline
import Results

/// The events of a task, read from the first to the last.
struct TaskHistory {
    enum Phase: Equatable {
        case planning
        case planWaits
        case working
        /// This try is chosen and not offered yet.
        case opening(Int)
        case ready
        /// It is in the merge queue, or has landed.
        case following
        case ended
    }

    /// What is known of a try with a commit.
    struct Try {
        var made: TaskTry
        /// The number of the event that recorded it.
        var event: Int
        /// The tests that fail on the target; nil: not known yet.
        var reproduced: [String]?
        var notReproduced: String?
        /// What its checks and reviews said, by run.
        var checks: [RunID: (verdict: Verdict, reason: String)] = [:]
    }

    private(set) var phase: Phase
    private(set) var plan: TaskPlan?
    /// How often in a row the answer was no plan, and why the last one was none.
    private(set) var planFailures = 0
    private(set) var planProblem = ""
    /// The try that the present work is on top of; nil: the target's tip.
    private(set) var base: Int?
    /// The number of the last try before the present work began.
    private(set) var floor = 0
    /// The events of the remarks of the present work.
    private(set) var remarks: [Int] = []
    /// By number.
    private(set) var tries: [Int: Try] = [:]
    /// The reasons of the tries without a commit, by number, with their agents.
    private(set) var failures: [Int: (agent: String, reason: String)] = [:]
    /// The runs that the history has.
    private(set) var runs: Set<RunID> = []

    private let rules: TasksDeclaration
    private var chosen: Int?
    private var lastRemark: TaskEvent?
    private let begun: [RunID: TaskRun]

    init(_ task: TaskRecord, _ events: [TaskEvent], _ runs: [TaskRun]) {
        rules = task.rules
        begun = Dictionary(runs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        phase = task.rules.planning == .none ? .working : .planning
        for event in events { add(event) }
    }

    private mutating func add(_ event: TaskEvent) {
        switch event.what {
        case .created, .seenAgain, .told, .rulesProposed: break
        case .remark: remark(event)
        case .planned, .planFailed, .planApproved, .planRefused: addPlan(event)
        case .made, .tryFailed, .reproduced, .notReproduced, .checked: addWork(event)
        case .chosen(let attempt, _): (chosen, phase) = (attempt, .opening(attempt))
        case .changeOpened, .landingFailed: phase = .ready
        case .landingAsked, .landed, .released, .delivered: phase = .following
        case .gaveUp, .refused, .cancelled, .answered: phase = .ended
        case .reopened:
            (phase, planFailures) = (rules.planning == .none ? .working : .planning, 0)
            startWork(on: nil)
            if rules.planning != .none { phase = .planning }
        }
    }

    private mutating func addPlan(_ event: TaskEvent) {
        switch event.what {
        case .planned(let plan, let run):
            runs.insert(run)
            (self.plan, planFailures) = (plan, 0)
            guard phase == .planning else { return }
            // A remark that came while the agent planned is not in this plan.
            if let remark = lastRemark, let began = begun[run]?.createdAt, remark.at > began { return }
            if rules.planning == .approved, rules.small?.admits(plan) != true {
                phase = .planWaits
            } else {
                startWork(on: nil)
            }
        case .planFailed(let run, let reason):
            runs.insert(run)
            (planFailures, planProblem) = (planFailures + 1, reason)
        case .planApproved(let version, _):
            if phase == .planWaits, version == plan?.version { startWork(on: nil) }
        case .planRefused: phase = .ended
        default: break
        }
    }

    private mutating func addWork(_ event: TaskEvent) {
        switch event.what {
        case .made(let made):
            runs.insert(made.run)
            tries[made.attempt] = Try(made: made, event: event.number)
        case .tryFailed(let agent, let attempt, let run, let reason):
            runs.insert(run)
            failures[attempt] = (agent, reason)
        case .reproduced(let run, let attempt, let tests):
            runs.insert(run)
            tries[attempt]?.reproduced = tests
        case .notReproduced(let run, let attempt, let reason):
            runs.insert(run)
            tries[attempt]?.notReproduced = reason
        case .checked(let run, let attempt, let verdict, let reason):
            runs.insert(run)
            tries[attempt]?.checks[run] = (verdict, reason)
        default: break
        }
    }

    private mutating func remark(_ event: TaskEvent) {
        lastRemark = event
        switch phase {
        case .planWaits: (phase, planFailures) = (.planning, 0)
        case .working: remarks.append(event.number)
        case .ready, .opening: startWork(on: chosen)
        case .planning, .following, .ended: break
        }
    }

    private mutating func startWork(on attempt: Int?) {
        (phase, base, remarks) = (.working, attempt, [])
        floor = max(tries.keys.max() ?? 0, failures.keys.max() ?? 0)
    }
}

extension SmallTask {
    /// Whether a plan is small enough for work without approval. A plan that names globs may mean any number of files.
    func admits(_ plan: TaskPlan) -> Bool {
        let allowed = globs.compactMap { try? Glob($0) }
        return (1...max(files, 1)).contains(plan.files.count)
            && plan.files.allSatisfy { file in
                !file.contains { "*?[]{}".contains($0) } && allowed.contains { $0.matches(file) }
            }
    }
}
