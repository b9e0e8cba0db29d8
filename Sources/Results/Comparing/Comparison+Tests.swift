extension Comparison {
    /// Compares a run's tests with those of a run on the target. Of each test, the last try counts.
    ///
    /// The lists keep the order of `tests`; ``vanished`` keeps the order of the target's tests. A test that was skipped
    /// on the target and no longer exists did not vanish, because it did not run there. If the run has no tests, all
    /// lists but ``vanished`` are empty. Tests are matched by name alone: ``take(_:_:_:)`` then adds what is known
    /// about renames.
    public static func between(
        _ tests: [TestResult], and targetTests: [TestResult], targetRun: RunID, targetCommit: String
    ) -> Comparison {
        let (here, order) = lastTries(tests)
        let (there, targetOrder) = lastTries(targetTests)
        var comparison = Comparison(against: targetRun, commit: targetCommit)
        var (fixed, added): ([String], [String]) = ([], [])
        for id in order {
            guard let status = here[id] else { continue }
            let before = there[id]
            if before == nil { added.append(id) }
            if status.isFailure {
                if before?.isFailure == true {
                    comparison.alsoFailing.append(id)
                } else {
                    comparison.newlyFailing.append(id)
                }
            } else if status == .skipped, let before, before != .skipped {
                comparison.newlySkipped.append(id)
            } else if status != .skipped, before?.isFailure == true {
                fixed.append(id)
            }
        }
        comparison.vanished = targetOrder.filter { here[$0] == nil && there[$0] != .skipped }
        (comparison.fixed, comparison.added) = (fixed, added)
        return comparison
    }

    /// Moves renamed tests out of ``added`` and ``vanished``.
    public mutating func take(_ renames: [Rename], _ tests: [TestResult], _ targetTests: [TestResult]) {
        renamed = renames
        guard !renames.isEmpty else { return }
        let (here, there) = (Self.lastTries(tests).status, Self.lastTries(targetTests).status)
        let (from, to) = (Set(renames.map(\.from)), Set(renames.map(\.to)))
        vanished.removeAll(where: from.contains)
        added?.removeAll(where: to.contains)
        for rename in renames {
            guard let status = here[rename.to], let before = there[rename.from] else { continue }
            if status.isFailure, before.isFailure {
                newlyFailing.removeAll { $0 == rename.to }
                alsoFailing.append(rename.to)
            } else if status == .skipped, before != .skipped {
                newlySkipped.append(rename.to)
            } else if status != .skipped, !status.isFailure, before.isFailure {
                fixed?.append(rename.to)
            }
        }
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
