/// Divides tests among the parts of a step, so that the parts take about the same time.
package enum ShardSplit {
    /// A test with its name in reports, and how long it took.
    package struct Test: Sendable, Equatable {
        package var id: String
        /// Seconds; nil for a test that has not run yet.
        package var seconds: Double?

        package init(_ id: String, seconds: Double? = nil) {
            self.id = id
            self.seconds = seconds
        }
    }

    /// The tests of each part, in the order in which they were given.
    ///
    /// The longest test is placed first, each into the part that has the least so far (the rule "longest processing
    /// time first": at most 4/3 of the best possible split, Graham 1969). A test of unknown duration counts as the
    /// median of the known ones. Equal input gives an equal split, so all parts can compute it.
    package static func parts(of tests: [Test], among count: Int) -> [[Test]] {
        guard count > 1 else { return [tests] }
        let known = WarmWorth.median(tests.compactMap(\.seconds)) ?? 1
        let weights = tests.map { test -> Double in
            guard let seconds = test.seconds, seconds.isFinite, seconds >= 0 else { return known }
            return seconds
        }
        // By duration, then by name: the order of the input does not matter.
        let order = tests.indices.sorted { first, second in
            weights[first] != weights[second]
                ? weights[first] > weights[second] : tests[first].id < tests[second].id
        }
        var sums = Array(repeating: (seconds: 0.0, tests: 0), count: count)
        var part = Array(repeating: 0, count: tests.count)
        for index in order {
            // Among equal sums the one with fewer tests: tests that take no time are spread, too.
            let least =
                sums.indices.min { (sums[$0].seconds, sums[$0].tests) < (sums[$1].seconds, sums[$1].tests) } ?? 0
            part[index] = least
            sums[least].seconds += weights[index]
            sums[least].tests += 1
        }
        var parts: [[Test]] = Array(repeating: [], count: count)
        for index in tests.indices { parts[part[index]].append(tests[index]) }
        return parts
    }
}
