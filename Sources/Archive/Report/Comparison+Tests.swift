public import Engine

extension Comparison {
    /// Holds a run's tests against those of a run on the target; of each test, the last try counts.
    ///
    /// A list keeps the order of `tests`, and ``vanished`` the order of the target's tests. A test that was skipped there
    /// and is gone here did not vanish: it did not run there. All lists are empty for a run that has no tests, except
    /// ``vanished``.
    public static func between(
        _ tests: [TestResult], and targetTests: [TestResult], targetRun: RunID, targetCommit: String
    ) -> Comparison {
        let (here, order) = lastTries(tests)
        let (there, targetOrder) = lastTries(targetTests)
        var comparison = Comparison(against: targetRun, commit: targetCommit)
        for id in order {
            guard let status = here[id] else { continue }
            if status.isFailure {
                if there[id]?.isFailure == true {
                    comparison.alsoFailing.append(id)
                } else {
                    comparison.newlyFailing.append(id)
                }
            } else if status == .skipped, let before = there[id], before != .skipped {
                comparison.newlySkipped.append(id)
            }
        }
        comparison.vanished = targetOrder.filter { here[$0] == nil && there[$0] != .skipped }
        return comparison
    }

    private static func lastTries(_ tests: [TestResult]) -> (status: [String: TestResult.Status], order: [String]) {
        var last: [String: TestResult] = [:]
        var order: [String] = []
        for test in tests {
            guard let known = last[test.id] else {
                order.append(test.id)
                last[test.id] = test
                continue
            }
            if test.attempt >= known.attempt { last[test.id] = test }
        }
        return (last.mapValues(\.status), order)
    }
}
