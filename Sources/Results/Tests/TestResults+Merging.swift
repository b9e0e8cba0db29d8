extension TestResults {
    /// These results and `other`, where both describe the same run; a try in both is kept once, with the richest facts.
    ///
    /// SwiftPM writes one Swift Testing run as JUnit, events and console lines, each with facts the others lack. Tests
    /// are paired by name, try and suite; a suite may lack its first parts (`Tests` for `Module.Tests`) or be absent
    /// where only one test fits. Results of two runs are joined by `tests + tests` instead.
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
                // Many tests of one name can't be told apart by a part of a suite; comparing all would be quadratic.
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

    /// The name as the console has it: without the backticks and parentheses of a raw identifier.
    private static func plain(_ name: String) -> String {
        name.hasPrefix("`") && name.hasSuffix("`()") ? String(name.dropFirst().dropLast(3)) : name
    }

    private static func isSame(_ one: String, _ two: String) -> Bool {
        one == two || one.isEmpty || two.isEmpty || one.hasSuffix("." + two) || two.hasSuffix("." + one)
    }
}

extension TestResult {
    /// This result with what `other`, about the same try, knows better.
    fileprivate func enriched(by other: TestResult) -> TestResult {
        let (rich, poor) = other.richness > richness ? (other, self) : (self, other)
        var result = rich
        // The longer suite is the whole one, and the name beside it the declared one.
        result.name = suite.utf8.count >= other.suite.utf8.count ? name : other.name
        result.suite = suite.utf8.count >= other.suite.utf8.count ? suite : other.suite
        // SwiftPM's JUnit calls a skip or a known issue passed, never the other way round.
        if poor.status.weight > rich.status.weight { result.status = poor.status }
        result.message = rich.message ?? poor.message
        result.details = rich.details ?? poor.details
        result.duration = rich.duration ?? poor.duration
        if rich.line == nil, poor.file != nil { (result.file, result.line) = (poor.file, poor.line) }
        // A console line has a file's name where the event stream has its path.
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
