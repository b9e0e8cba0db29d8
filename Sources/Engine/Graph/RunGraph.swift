public import Results
public import Pipeline

/// Which steps of a plan may start, which never will and why: a pure value without process, clock or disk.
///
/// The plan must be valid (``Plan/validate()``). One loop asks it and reports back: ``takeReady()``, then
/// ``end(_:as:)`` for each step that ended. All calls of a run together cost no more than its steps and needs.
public struct RunGraph: Sendable {
    /// Where a step is.
    public enum State: Sendable, Equatable {
        case waiting
        case running
        case ended(StepStatus)
    }

    /// A step that ended without running, and why.
    public struct Skip: Sendable, Equatable {
        public var step: Int
        public var status: StepStatus
        public var reason: String
    }

    public let plan: Plan
    public private(set) var states: [State]
    /// Indices of steps whose failure counts, in the order in which they failed.
    public private(set) var failures: [Int] = []

    /// What is asked of a step again and again, so that the plan's own large values need not be copied.
    private struct Facts {
        var condition: PlannedStep.Condition
        var allowsFailure: Bool
        /// It has no needs of its own but waits for all ordinary steps.
        var isLast: Bool
        /// It is waited for by the last ones.
        var isOrdinary = false
    }

    private let needs: [[Int]]
    private let dependants: [[Int]]
    private var facts: [Facts]
    private var openNeeds: [Int]
    /// Whether a step has failed, or did not run and needed one of which this is true.
    private var failedAbove: [Bool]
    private var neverRan: [Bool]
    private var ready: [Int] = []
    private var skips: [Skip] = []
    private var openSteps: Int
    private var runningSteps = 0
    private var openOrdinary = 0
    private var stopped: (reason: String, isFailure: Bool)?

    public init(_ plan: Plan) {
        self.plan = plan
        let index = Dictionary(plan.steps.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        // A need that is listed twice counts once.
        let needs = plan.steps.map { step in Array(Set(step.needs.compactMap { index[$0] })).sorted() }
        var dependants: [[Int]] = Array(repeating: [], count: plan.steps.count)
        for (step, wanted) in needs.enumerated() { for need in wanted { dependants[need].append(step) } }
        self.needs = needs
        self.dependants = dependants
        openNeeds = needs.map(\.count)
        facts = zip(plan.steps, needs).map { step, needs in
            Facts(
                condition: step.condition, allowsFailure: step.allowsFailure,
                isLast: needs.isEmpty && step.condition != .onSuccess)
        }
        failedAbove = Array(repeating: false, count: plan.steps.count)
        neverRan = failedAbove
        states = Array(repeating: .waiting, count: plan.steps.count)
        openSteps = plan.steps.count
        // What needs a last step can't be among those that a last step waits for.
        var afterLast = facts.map(\.isLast)
        var waiting = plan.steps.indices.filter { afterLast[$0] }
        while let step = waiting.popLast() {
            for dependant in dependants[step] where !afterLast[dependant] {
                afterLast[dependant] = true
                waiting.append(dependant)
            }
        }
        for step in plan.steps.indices where !afterLast[step] {
            facts[step].isOrdinary = true
            openOrdinary += 1
            if openNeeds[step] == 0 { ready.append(step) }
        }
        if openOrdinary == 0 { settle(releaseLast()) }
    }

    /// Whether every step has ended.
    public var isFinished: Bool { openSteps == 0 }

    /// Whether nothing runs or may start although steps are left: the plan was not valid.
    public var isStuck: Bool { openSteps > 0 && runningSteps == 0 && ready.isEmpty }

    /// The steps that may start now, lowest index first, each handed out once and from then on ``State/running``.
    public mutating func takeReady() -> [Int] {
        defer { ready = [] }
        for step in ready { states[step] = .running }
        runningSteps += ready.count
        return ready.sorted()
    }

    /// The steps that ended without running since the last call.
    public mutating func takeSkips() -> [Skip] {
        defer { skips = [] }
        return skips
    }

    /// Notes that a running step has ended, which may set others free or rule them out.
    public mutating func end(_ step: Int, as status: StepStatus) {
        precondition(status.isFinal && states[step] == .running)
        runningSteps -= 1
        if status.isFailure {
            noteFailure(above: step)
            if !facts[step].allowsFailure { failures.append(step) }
        }
        settle([(step, status, nil)])
    }

    /// Rules out everything that waits, except what runs ``PlannedStep/Condition/always``.
    ///
    /// - Parameter isFailure: The run ends because a step failed: then steps for that case run, too.
    public mutating func stop(because reason: String, isFailure: Bool = false) {
        guard stopped == nil else { return }
        stopped = (reason, isFailure)
        let ended = plan.steps.indices.filter { states[$0] == .waiting && isRuledOutByStop($0) }
        settle(ended.map { ($0, .cancelled, reason) })
        ready.removeAll { states[$0] != .waiting }
    }

    private func isRuledOutByStop(_ step: Int) -> Bool {
        guard let stopped else { return false }
        switch facts[step].condition {
        case .always: return false
        case .onFailure: return !stopped.isFailure
        case .onSuccess: return true
        }
    }

    /// A failure is also one of those that did not run and needed the step, for steps that wait for a failure.
    private mutating func noteFailure(above step: Int) {
        var waiting = [step]
        while let step = waiting.popLast() {
            guard !failedAbove[step] else { continue }
            failedAbove[step] = true
            waiting += dependants[step].filter { neverRan[$0] && !failedAbove[$0] }
        }
    }

    /// Ends steps and what can no longer run because of them; iterative, because a chain may be longer than the stack.
    private mutating func settle(_ ended: [(step: Int, status: StepStatus, reason: String?)]) {
        // All of them before what follows from any: a stop ends steps whose needs it ends, too.
        for (step, status, reason) in ended { close(step, as: status, because: reason) }
        var waiting = ended.map(\.step)
        while let step = waiting.popLast() {
            for dependant in dependants[step] {
                openNeeds[dependant] -= 1
                guard openNeeds[dependant] == 0, states[dependant] == .waiting else { continue }
                if let (status, reason) = obstacle(for: dependant) {
                    close(dependant, as: status, because: reason)
                    waiting.append(dependant)
                } else {
                    ready.append(dependant)
                }
            }
            guard facts[step].isOrdinary else { continue }
            openOrdinary -= 1
            guard openOrdinary == 0 else { continue }
            for (step, status, reason) in releaseLast() {
                close(step, as: status, because: reason)
                waiting.append(step)
            }
        }
    }

    private mutating func close(_ step: Int, as status: StepStatus, because reason: String?) {
        states[step] = .ended(status)
        openSteps -= 1
        guard let reason else { return }
        skips.append(Skip(step: step, status: status, reason: reason))
        neverRan[step] = true
        if needs[step].contains(where: { failedAbove[$0] }) { noteFailure(above: step) }
    }

    /// Lets the steps go that wait for all ordinary ones, and returns those that need not run.
    private mutating func releaseLast() -> [(step: Int, status: StepStatus, reason: String?)] {
        var ended: [(step: Int, status: StepStatus, reason: String?)] = []
        for step in plan.steps.indices where facts[step].isLast && states[step] == .waiting {
            if isRuledOutByStop(step), let stopped {
                ended.append((step, .cancelled, stopped.reason))
            } else if facts[step].condition == .onFailure && failures.isEmpty {
                ended.append((step, .skipped, "no step failed"))
            } else {
                ready.append(step)
            }
        }
        return ended
    }

    /// Why a step whose needs have all ended must not run, or nil when it may.
    private func obstacle(for step: Int) -> (StepStatus, String)? {
        if isRuledOutByStop(step), let stopped { return (.cancelled, stopped.reason) }
        switch facts[step].condition {
        case .always: return nil
        case .onFailure:
            return needs[step].contains { failedAbove[$0] } ? nil : (.skipped, "no step that it needs failed")
        case .onSuccess:
            for need in needs[step] {
                guard case .ended(let status) = states[need], status != .passed else { continue }
                if status.isFailure && facts[need].allowsFailure { continue }
                let name = plan.steps[need].name
                switch status {
                case .skipped: return (.skipped, "\"\(name)\", which it needs, was skipped")
                case .cancelled: return (.cancelled, "\"\(name)\", which it needs, was cancelled")
                default: return (.skipped, "\"\(name)\", which it needs, failed")
                }
            }
            return nil
        }
    }
}
