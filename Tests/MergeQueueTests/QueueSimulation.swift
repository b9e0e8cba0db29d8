import MergeQueue
import TestBasics

/// A queue whose runs all take the same time: how long it takes until everybody has landed or left.
struct QueueSimulation {
    var batchSize: Int
    var depth: Int
    /// Changes that wait at the beginning.
    var waiting = 50
    /// The share of them that fail, from 0 to 1.
    var culprits = 0.1

    struct Outcome {
        var landed = 0
        /// Run durations that passed until the queue was empty.
        var rounds = 0
        var runs = 0

        /// Landings in an hour, where a run takes so many minutes.
        func landingsPerHour(minutes: Double) -> Double { Double(landed) / (Double(max(rounds, 1)) * minutes / 60) }
    }

    func run(seed: Int) -> Outcome {
        var random = SplitMix64(seed: seed)
        var names = (1...waiting).map(String.init)
        names.shuffle(using: &random)
        let bad = Set(names.prefix(Int((Double(waiting) * culprits).rounded())))
        let rules = QueueRules(workflows: ["test"], method: "squash", batchSize: batchSize, depth: depth)
        var state = QueueState(target: "T", rules: rules)
        for number in 1...waiting { _ = state.apply(.enqueue(QueueWish(change: "\(number)", head: "h\(number)"))) }
        var outcome = Outcome()
        var content: [String: [String]] = ["T": []]
        var running: [(commit: String, end: Int)] = []
        while !state.entries.isEmpty, outcome.rounds < 10_000 {
            var isWaiting = true
            for action in state.actions {
                switch action {
                case .build(let base, let entries):
                    var there = content[base] ?? []
                    let built = entries.map { entry -> BuiltEntry in
                        there.append(entry.change)
                        let commit = there.joined(separator: "+")
                        content[commit] = there
                        return .commit(commit, tree: commit)
                    }
                    _ = state.apply(.built(on: base, entries: entries.map(\.id), built))
                    isWaiting = false
                case .test(let result) where result.runs.isEmpty:
                    outcome.runs += 1
                    running.append((result.commit, outcome.rounds + 1))
                    _ = state.apply(.started(commit: result.commit, runs: ["test": Int64(outcome.runs)]))
                    isWaiting = false
                case .test: continue
                case .push(let intent), .merge(let intent):
                    outcome.landed += state.apply(.landed(commit: intent.to, rules)).count {
                        if case .landed = $0.reason { true } else { false }
                    }
                    isWaiting = false
                }
                if !isWaiting { break }
            }
            guard isWaiting else { continue }
            // Nothing can be done before the runs that go on have ended.
            outcome.rounds += 1
            for run in running where run.end <= outcome.rounds {
                let fails = content[run.commit]?.contains(where: bad.contains) ?? false
                _ = state.apply(.tested(commit: run.commit, fails ? .failed : .passed))
            }
            running.removeAll { $0.end <= outcome.rounds }
        }
        return outcome
    }

    /// The mean of several seeds.
    func mean(of seeds: ClosedRange<Int>, minutes: Double) -> (landingsPerHour: Double, runsPerLanding: Double) {
        let all = seeds.map { run(seed: $0) }
        let count = Double(all.count)
        return (
            all.reduce(0) { $0 + $1.landingsPerHour(minutes: minutes) } / count,
            all.reduce(0) { $0 + Double($1.runs) / Double(max($1.landed, 1)) } / count
        )
    }
}
