/// Which steps a failure reaches: those that failed, and those that were skipped and need, directly or not, one that
/// failed. It decides about steps that run only on failure.
struct FailureSpread {
    private var isReached: [Bool]
    private var isSkipped: [Bool]

    init(count: Int) {
        isReached = Array(repeating: false, count: count)
        isSkipped = isReached
    }

    func reaches(anyOf steps: [Int]) -> Bool { steps.contains { isReached[$0] } }

    /// Notes that `step` failed, and marks the skipped steps that need it.
    mutating func note(_ step: Int, _ links: StepLinks) {
        var waiting = [step]
        while let step = waiting.popLast() {
            guard !isReached[step] else { continue }
            isReached[step] = true
            waiting += links.dependants[step].filter { isSkipped[$0] && !isReached[$0] }
        }
    }

    /// Notes that `step` ended without running.
    mutating func skip(_ step: Int, _ links: StepLinks) {
        isSkipped[step] = true
        if reaches(anyOf: links.needs[step]) { note(step, links) }
    }
}
