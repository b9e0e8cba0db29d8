public import Pipeline

/// Which steps of a plan may start, which never will and why: a pure value without process, clock or disk.
///
/// The plan must be valid (``Plan/validate()``). One loop asks it and reports back: ``takeReady()``, then
/// ``end(_:as:)`` for each step that ended.
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

    private let needs: [[Int]]
    private let dependants: [[Int]]
    private var openNeeds: [Int]
    /// Steps that may start now, lowest index first; a sorted set would cost more than it saves.
    private var ready: [Int] = []
    private var skips: [Skip] = []
    private var openNormal: Int
    /// Why nothing new starts but clean-up; nil while the run goes on.
    private var stopReason: String?

    public init(_ plan: Plan) {
        self.plan = plan
        let index = Dictionary(plan.steps.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        // A need that is listed twice counts once.
        needs = plan.steps.map { step in Array(Set(step.needs.compactMap { index[$0] })).sorted() }
        var dependants: [[Int]] = Array(repeating: [], count: plan.steps.count)
        for (step, wanted) in needs.enumerated() { for need in wanted { dependants[need].append(step) } }
        self.dependants = dependants
        openNeeds = needs.map(\.count)
        states = Array(repeating: .waiting, count: plan.steps.count)
        openNormal = 0
        openNormal = plan.steps.indices.count { !waitsForAll($0) }
        for step in plan.steps.indices where openNeeds[step] == 0 && !waitsForAll(step) { ready.append(step) }
        releaseFinal()
    }

    /// Whether every step has ended.
    public var isFinished: Bool {
        states.allSatisfy { if case .ended = $0 { true } else { false } }
    }

    /// The steps that may start now, each handed out once and from then on ``State/running``.
    public mutating func takeReady() -> [Int] {
        defer { ready = [] }
        for step in ready { states[step] = .running }
        return ready
    }

    /// The steps that ended without running since the last call.
    public mutating func takeSkips() -> [Skip] {
        defer { skips = [] }
        return skips
    }

    /// Notes that a running step has ended, which may set others free or rule them out.
    public mutating func end(_ step: Int, as status: StepStatus) {
        precondition(status.isFinal)
        states[step] = .ended(status)
        if status.isFailure && !plan.steps[step].allowsFailure { failures.append(step) }
        settle(after: step)
        releaseFinal()
    }

    /// Rules out everything that waits, except what runs ``PlannedStep/Condition/always``.
    public mutating func stop(because reason: String) {
        guard stopReason == nil else { return }
        stopReason = reason
        for step in plan.steps.indices where states[step] == .waiting && plan.steps[step].condition != .always {
            skip(step, as: .cancelled, because: reason)
        }
        ready.removeAll { states[$0] != .waiting }
        releaseFinal()
    }

    /// Whether the step has no needs of its own but waits for all ordinary steps.
    private func waitsForAll(_ step: Int) -> Bool {
        needs[step].isEmpty && plan.steps[step].condition != .onSuccess
    }

    private mutating func skip(_ step: Int, as status: StepStatus, because reason: String) {
        guard states[step] == .waiting else { return }
        states[step] = .ended(status)
        skips.append(Skip(step: step, status: status, reason: reason))
        settle(after: step)
    }

    /// Counts one need less for each dependant; iterative, because a chain may be longer than the stack.
    private mutating func settle(after ended: Int) {
        var waiting = [ended]
        while let step = waiting.popLast() {
            if !waitsForAll(step) { openNormal -= 1 }
            for dependant in dependants[step] {
                openNeeds[dependant] -= 1
                guard openNeeds[dependant] == 0, states[dependant] == .waiting else { continue }
                if let (status, reason) = obstacle(for: dependant) {
                    states[dependant] = .ended(status)
                    skips.append(Skip(step: dependant, status: status, reason: reason))
                    waiting.append(dependant)
                } else {
                    insertReady(dependant)
                }
            }
        }
    }

    /// Lets the steps go that wait for all others.
    private mutating func releaseFinal() {
        guard openNormal == 0 else { return }
        // Those that were freed once are no longer waiting, or are in `ready` already.
        for step in plan.steps.indices where waitsForAll(step) && states[step] == .waiting && !ready.contains(step) {
            if plan.steps[step].condition == .onFailure && failures.isEmpty {
                skip(step, as: .skipped, because: "nothing failed")
            } else {
                insertReady(step)
            }
        }
    }

    private mutating func insertReady(_ step: Int) {
        ready.insert(step, at: ready.firstIndex { $0 > step } ?? ready.endIndex)
    }

    /// Why a step whose needs have all ended must not run, or nil when it may.
    private func obstacle(for step: Int) -> (StepStatus, String)? {
        let planned = plan.steps[step]
        if let stopReason, planned.condition != .always { return (.cancelled, stopReason) }
        let bad = needs[step].first { need in
            guard case .ended(let status) = states[need] else { return false }
            return status != .passed && !(status.isFailure && plan.steps[need].allowsFailure)
        }
        switch planned.condition {
        case .always: return nil
        case .onFailure:
            let failed = needs[step].contains { need in
                if case .ended(let status) = states[need] { status.isFailure } else { false }
            }
            return failed ? nil : (.skipped, "nothing that it needs failed")
        case .onSuccess:
            guard let bad, case .ended(let status) = states[bad] else { return nil }
            let name = plan.steps[bad].name
            switch status {
            case .skipped: return (.skipped, "\"\(name)\", which it needs, was skipped")
            case .cancelled: return (.cancelled, "\"\(name)\", which it needs, was cancelled")
            default: return (.skipped, "\"\(name)\", which it needs, failed")
            }
        }
    }
}
