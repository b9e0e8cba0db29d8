import Control
import Results
import Store
import Foundation

/// Estimates when a run's steps will have ended, from their median durations.
struct StepExpectation: Sendable, Equatable {
    var end: Date
    /// The largest number of runs behind one of the medians.
    var runs: Int

    /// The longest path through the remaining steps; nil if one of them has no history, or waits for approval.
    ///
    /// Slots are not considered: with few of them it takes longer.
    init?(_ steps: [LiveRun.Step], times: [String: StepTime], at now: Date) {
        var seconds: [String: Double] = [:]
        var runs = 0
        // In the plan's order a step may need a later one; as many rounds as there are steps settle all.
        var open = steps
        for _ in steps {
            var left: [LiveRun.Step] = []
            for step in open {
                let needs = step.record.needs.compactMap { seconds[$0] }
                guard needs.count == step.record.needs.count else {
                    left.append(step)
                    continue
                }
                if step.record.status.isFinal {
                    seconds[step.id] = 0
                    continue
                }
                guard !step.awaitsApproval, let time = times[step.id] else { return nil }
                runs = max(runs, time.runs)
                let elapsed = step.startedAt.map { now.timeIntervalSince($0) } ?? 0
                seconds[step.id] = (needs.max() ?? 0) + max(time.median - max(elapsed, 0), 0)
            }
            open = left
            if open.isEmpty { break }
        }
        guard open.isEmpty, runs > 0 else { return nil }
        end = now.addingTimeInterval(seconds.values.max() ?? 0)
        self.runs = runs
    }
}
