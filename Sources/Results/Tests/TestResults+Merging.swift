extension TestResults {
    /// These results together with `other`, if both describe the same test run. A try that is in both is kept once,
    /// with all facts.
    ///
    /// SwiftPM writes a Swift Testing run as JUnit, as events and on the console, and each has facts that the others
    /// lack. Tests are paired by name, try and suite. A suite may lack its first parts (`Tests` for `Module.Tests`), or
    /// be missing if only one test fits. To join the results of two test runs, use `tests + tests` instead.
    public func merging(_ other: TestResults) -> TestResults {
        var merged = self
        struct Key: Hashable {
            var name: String
            var attempt: Int
        }
        var places: [Key: [Int]] = [:]
        for (index, test) in tests.enumerated() {
            places[Key(name: Self.plain(test.name), attempt: test.attempt), default: []].append(index)
        }
        var exact: [String: Int] = [:]
        for (index, test) in tests.enumerated() { exact[test.id + "\0\(test.attempt)"] = index }
        var taken: Set<Int> = []
        for test in other.tests {
            var match = exact[test.id + "\0\(test.attempt)"]
            if match == nil, let candidates = places[Key(name: Self.plain(test.name), attempt: test.attempt)],
                // Many tests of the same name can't be told apart by a part of a suite, and comparing all pairs would
                // be quadratic.
                candidates.count <= 64
            {
                let fitting = candidates.filter {
                    !taken.contains($0) && Self.isSame(tests[$0].suite, test.suite)
                }
                if fitting.count == 1 { match = fitting[0] }
            }
            if let match, taken.insert(match).inserted {
                merged.tests[match] = merged.tests[match].enriched(by: test)
            } else {
                merged.tests.append(test)
            }
        }
        for finding in other.findings where !findings.contains(finding) { merged.findings.append(finding) }
        return merged
    }

    /// The name as the console prints it: without the backticks and parentheses of a raw identifier.
    private static func plain(_ name: String) -> String {
        name.hasPrefix("`") && name.hasSuffix("`()") ? String(name.dropFirst().dropLast(3)) : name
    }

    private static func isSame(_ one: String, _ two: String) -> Bool {
        one == two || one.isEmpty || two.isEmpty || one.hasSuffix("." + two) || two.hasSuffix("." + one)
    }
}

extension TestResult {
    /// This result, completed by what `other` knows about the same try.
    fileprivate func enriched(by other: TestResult) -> TestResult {
        let (rich, poor) = other.richness > richness ? (other, self) : (self, other)
        var result = rich
        // The longer suite is complete, and its name is the declared one.
        result.name = suite.utf8.count >= other.suite.utf8.count ? name : other.name
        result.suite = suite.utf8.count >= other.suite.utf8.count ? suite : other.suite
        // SwiftPM's JUnit reports a skip or a known issue as passed, but never a passed test as skipped.
        if poor.status.weight > rich.status.weight { result.status = poor.status }
        result.message = rich.message ?? poor.message
        result.details = rich.details ?? poor.details
        result.duration = rich.duration ?? poor.duration
        if rich.line == nil, poor.file != nil { (result.file, result.line) = (poor.file, poor.line) }
        // The console prints a file's name, the event stream its path.
        if let short = result.file, let long = poor.file, rich.line == poor.line, long.hasSuffix("/" + short) {
            result.file = long
        }
        return result
    }

    private var richness: Int {
        (line != nil ? 8 : 0) + (message != nil && message != "failure" ? 4 : 0) + (details != nil ? 2 : 0)
            + (duration != nil ? 1 : 0)
    }
}

extension TestResult.Status {
    fileprivate var weight: Int {
        switch self {
        case .passed: 0
        case .skipped: 1
        case .expectedFailure: 2
        case .failed, .errored: 3
        }
    }
}
