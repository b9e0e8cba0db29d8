import Results
import Pipeline

/// The required behaviour of ``RunGraph``, written as simply as possible: after each event everything is checked again
/// until nothing changes.
struct ReferenceGraph {
    enum Place: Equatable { case waiting, running, ended(StepStatus) }

    let plan: Plan
    let needs: [[Int]]
    let afterLast: [Bool]
    var places: [Place]
    var ran: [Bool]
    var stop: (isFailure: Bool, Void)?

    init(_ plan: Plan) {
        self.plan = plan
        let names = plan.steps.map(\.name)
        let needs = plan.steps.map { step in step.needs.compactMap { names.firstIndex(of: $0) } }
        self.needs = needs
        var afterLast = plan.steps.map { $0.needs.isEmpty && $0.condition != .onSuccess }
        for _ in plan.steps.indices {
            let before = afterLast
            for step in plan.steps.indices where needs[step].contains(where: { afterLast[$0] }) {
                afterLast[step] = true
            }
            if before == afterLast { break }
        }
        self.afterLast = afterLast
        places = plan.steps.map { _ in .waiting }
        ran = plan.steps.map { _ in false }
        settle()
    }

    func isLast(_ step: Int) -> Bool { needs[step].isEmpty && plan.steps[step].condition != .onSuccess }

    func status(_ step: Int) -> StepStatus? { if case .ended(let status) = places[step] { status } else { nil } }

    /// Whether all that the step waits for has ended.
    func isFree(_ step: Int) -> Bool {
        let awaited = isLast(step) ? plan.steps.indices.filter { !afterLast[$0] } : needs[step]
        return awaited.allSatisfy { status($0) != nil }
    }

    /// True for each step that failed, and for each that did not run and needed one that failed.
    func failedAbove() -> [Bool] {
        var result = plan.steps.indices.map { status($0)?.isFailure ?? false }
        var changed = true
        while changed {
            changed = false
            for step in plan.steps.indices where !result[step] && status(step) != nil && !ran[step] {
                guard needs[step].contains(where: { result[$0] }) else { continue }
                result[step] = true
                changed = true
            }
        }
        return result
    }

    func isRuledOut(_ step: Int) -> Bool {
        guard let stop else { return false }
        switch plan.steps[step].condition {
        case .always: return false
        case .onFailure: return !stop.isFailure
        case .onSuccess: return true
        }
    }

    /// How a step ends without running once all its needs have ended; nil if it may run.
    func ending(_ step: Int) -> StepStatus? {
        if isRuledOut(step) { return .cancelled }
        switch plan.steps[step].condition {
        case .always: return nil
        case .onFailure where isLast(step):
            let counts = plan.steps.indices.contains {
                (status($0)?.isFailure ?? false) && !plan.steps[$0].allowsFailure
            }
            return counts ? nil : .skipped
        case .onFailure:
            let failed = failedAbove()
            return needs[step].contains { failed[$0] } ? nil : .skipped
        case .onSuccess:
            let bad = needs[step].sorted().first { need in
                guard let status = status(need) else { return true }
                return status != .passed && !(status.isFailure && plan.steps[need].allowsFailure)
            }
            return bad.map { status($0) == .cancelled ? .cancelled : .skipped }
        }
    }

    mutating func settle() {
        // A stop ends all of these at once: the end of one may affect another.
        for step in plan.steps.indices where places[step] == .waiting && isRuledOut(step) {
            places[step] = .ended(.cancelled)
        }
        var changed = true
        while changed {
            changed = false
            for step in plan.steps.indices where places[step] == .waiting {
                guard isFree(step), let status = ending(step) else { continue }
                places[step] = .ended(status)
                changed = true
            }
        }
    }

    /// Starts all steps that may start and returns them.
    mutating func start() -> [Int] {
        let free = plan.steps.indices.filter { places[$0] == .waiting && isFree($0) }
        for step in free { (places[step], ran[step]) = (.running, true) }
        return free
    }

    mutating func end(_ step: Int, _ status: StepStatus) {
        places[step] = .ended(status)
        settle()
    }

    mutating func stop(isFailure: Bool) {
        if stop == nil { stop = (isFailure, ()) }
        settle()
    }
}
