import Results

/// Where each step of a run is, and how many are left.
struct StepProgress {
    private(set) var states: [RunGraph.State]
    /// The number of steps that have not ended.
    private(set) var left: Int
    private(set) var running = 0

    init(count: Int) {
        states = Array(repeating: .waiting, count: count)
        left = count
    }

    mutating func start(_ step: Int) {
        states[step] = .running
        running += 1
    }

    mutating func end(_ step: Int, as status: StepStatus) {
        if states[step] == .running { running -= 1 }
        states[step] = .ended(status)
        left -= 1
    }
}
