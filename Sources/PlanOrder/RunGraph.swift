public import Results
public import Pipeline

/// Decides which steps of a plan may start and which never will, and why: a pure value without process, clock or disk.
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
        /// The step's index in the plan.
        public var step: Int
        /// The status that it ends with.
        public var status: StepStatus
        /// The reason, as a sentence.
        public var reason: String
    }

    /// The plan whose steps are run.
    public let plan: Plan
    /// The state of each step, in the plan's order.
    public var states: [State] { progress.states }
    /// Indices of steps whose failure counts, in the order in which they failed.
    public private(set) var failures: [Int] = []

    /// The facts about a step that are needed often, so that the plan's large values need not be copied.
    private struct Facts {
        var condition: PlannedStep.Condition
        var allowsFailure: Bool
        /// Whether it has no needs of its own but waits for all ordinary steps.
        var isLast: Bool
        /// Whether the last steps wait for it.
        var isOrdinary = false
    }

    private let links: StepLinks
    private let facts: [Facts]
    private var progress: StepProgress
    private var waits: StepWaits
    private var spread: FailureSpread
    private var ready: [Int] = []
    private var skips: [Skip] = []
    private var stopped: (reason: String, isFailure: Bool)?

    public init(_ plan: Plan) {
        self.plan = plan
        let links = StepLinks(plan)
        var facts = zip(plan.steps, links.needs).map { step, needs in
            Facts(
                condition: step.condition, allowsFailure: step.allowsFailure,
                isLast: needs.isEmpty && step.condition != .onSuccess)
        }
        // A step that needs a last step can't be one that a last step waits for.
        let afterLast = links.reached(from: facts.indices.filter { facts[$0].isLast })
        for step in facts.indices where !afterLast[step] { facts[step].isOrdinary = true }
        self.links = links
        self.facts = facts
        progress = StepProgress(count: facts.count)
        waits = StepWaits(links, ordinary: facts.count(where: \.isOrdinary))
        spread = FailureSpread(count: facts.count)
        ready = facts.indices.filter { facts[$0].isOrdinary && links.needs[$0].isEmpty }
        if waits.isOrdinaryDone { settle(releaseLast()) }
    }

    /// Whether every step has ended.
    public var isFinished: Bool { progress.left == 0 }

    /// Whether steps are left but none runs or may start: the plan was not valid.
    public var isStuck: Bool { progress.left > 0 && progress.running == 0 && ready.isEmpty }

    /// The steps that may start now, lowest index first, each handed out once and from then on ``State/running``.
    public mutating func takeReady() -> [Int] {
        defer { ready = [] }
        for step in ready { progress.start(step) }
        return ready.sorted()
    }

    /// The steps that ended without running since the last call.
    public mutating func takeSkips() -> [Skip] {
        defer { skips = [] }
        return skips
    }

    /// Records that a running step ended, which may make others ready or rule them out.
    public mutating func end(_ step: Int, as status: StepStatus) {
        precondition(status.isFinal && states[step] == .running)
        if status.isFailure {
            spread.note(step, links)
            if !facts[step].allowsFailure { failures.append(step) }
        }
        settle([(step, status, nil)])
    }

    /// Rules out every step that waits, except those with ``PlannedStep/Condition/always``.
    ///
    /// - Parameter isFailure: Whether the run ends because a step failed; then steps that run on failure still run.
    public mutating func stop(because reason: String, isFailure: Bool = false) {
        guard stopped == nil else { return }
        stopped = (reason, isFailure)
        let ended = plan.steps.indices.filter { states[$0] == .waiting && isRuledOutByStop($0) }
        settle(ended.map { ($0, .cancelled, reason) })
        ready.removeAll { [progress] in progress.states[$0] != .waiting }
    }

    private func isRuledOutByStop(_ step: Int) -> Bool {
        guard let stopped else { return false }
        switch facts[step].condition {
        case .always: return false
        case .onFailure: return !stopped.isFailure
        case .onSuccess: return true
        }
    }

    /// Ends steps and all steps that can no longer run because of them. Iterative: a chain may be longer than the
    /// stack.
    private mutating func settle(_ ended: [(step: Int, status: StepStatus, reason: String?)]) {
        // All given steps are closed before their dependants are looked at: a stop also ends steps whose needs it ends.
        for (step, status, reason) in ended { close(step, as: status, because: reason) }
        var waiting = ended.map(\.step)
        while let step = waiting.popLast() {
            for dependant in links.dependants[step] {
                guard waits.needEnded(of: dependant), progress.states[dependant] == .waiting else { continue }
                if let (status, reason) = obstacle(for: dependant) {
                    close(dependant, as: status, because: reason)
                    waiting.append(dependant)
                } else {
                    ready.append(dependant)
                }
            }
            guard facts[step].isOrdinary, waits.ordinaryEnded() else { continue }
            for (step, status, reason) in releaseLast() {
                close(step, as: status, because: reason)
                waiting.append(step)
            }
        }
    }

    private mutating func close(_ step: Int, as status: StepStatus, because reason: String?) {
        progress.end(step, as: status)
        guard let reason else { return }
        skips.append(Skip(step: step, status: status, reason: reason))
        spread.skip(step, links)
    }

    /// Releases the steps that wait for all ordinary ones, and returns those that need not run.
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
            return spread.reaches(anyOf: links.needs[step]) ? nil : (.skipped, "no step that it needs failed")
        case .onSuccess:
            for need in links.needs[step] {
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
