public import Pipeline

/// What the store knows of a workflow's tests, before they are ranked.
public struct TestCandidates: Sendable, Equatable {
    /// A test with the facts that decide its rank.
    public struct Candidate: Sendable, Equatable {
        /// The test.
        public var test: KnownTest
        /// See ``TestNearness/distance(file:suite:)``.
        public var distance: Int
        /// The number of recent runs in which it failed.
        public var failures: Int

        public init(_ test: KnownTest, distance: Int = 0, failures: Int = 0) {
            self.test = test
            self.distance = distance
            self.failures = failures
        }
    }

    /// Tests that failed on this change, newest first.
    public var failedBefore: [KnownTest]
    /// Tests near the changed files.
    public var near: [Candidate]
    /// Changed files that look like tests and of which no test is known.
    public var newFiles: [String] = []
    /// Tests that failed in recent runs.
    public var failing: [Candidate]
    /// The number of runs that ``failing`` is about.
    public var runs: Int
    /// Whether any of these runs had tests.
    public var knowsTests = false

    public init(failedBefore: [KnownTest] = [], near: [Candidate] = [], failing: [Candidate] = [], runs: Int = 0) {
        self.failedBefore = failedBefore
        self.near = near
        self.failing = failing
        self.runs = runs
    }

    /// The ranked lists for workflows.
    ///
    /// - Parameter isThere: Whether the tested tree has a file. A test whose file is gone can't be selected.
    public func history(isThere: (String) -> Bool) -> TestHistory {
        var known: [String: Bool] = [:]
        func exists(_ test: KnownTest) -> Bool {
            guard let file = test.file else { return true }
            if let answer = known[file] { return answer }
            let answer = isThere(file)
            known[file] = answer
            return answer
        }
        let failures = Dictionary(failing.map { (Name($0.test), $0.failures) }, uniquingKeysWith: max)
        func chance(_ test: KnownTest) -> Double {
            // Starting a test takes time, however short the test is.
            Double((failures[Name(test)] ?? 0) + 1) / Double(runs + 2) / max(test.seconds ?? 0.01, 0.01)
        }
        /// A changed file may have new tests, so all tests in it are selected.
        func widened(_ candidate: Candidate) -> Candidate {
            guard candidate.distance == 0, candidate.test.file != nil else { return candidate }
            return Candidate(KnownTest(suite: candidate.test.suite, name: "", file: candidate.test.file))
        }
        func sorted(_ candidates: [Candidate]) -> [KnownTest] {
            let keyed = candidates.map { ($0.distance, chance($0.test), $0.test) }
            return keyed.sorted { one, other in
                if one.0 != other.0 { return one.0 < other.0 }
                if one.1 != other.1 { return one.1 > other.1 }
                return (one.2.suite, one.2.name) < (other.2.suite, other.2.name)
            }.map(\.2)
        }
        func bounded(_ tests: [KnownTest]) -> [KnownTest] {
            var seen: Set<Name> = []
            var kept: [KnownTest] = []
            for test in tests where kept.count < TestHistory.limit && seen.insert(Name(test)).inserted && exists(test) {
                kept.append(test)
            }
            return kept
        }
        let failed = bounded(failedBefore)
        let near = bounded(newFiles.map { KnownTest(suite: "", name: "", file: $0) } + sorted(near.map(widened)))
        return TestHistory(
            failedBefore: failed, near: near,
            ranked: bounded(failed + near + sorted(failing.map { Candidate($0.test) })))
    }

    /// Identifies a test by bytes, because two names that only look alike are two tests.
    private struct Name: Hashable {
        let suite: [UInt8]
        let name: [UInt8]
        let file: [UInt8]

        init(_ test: KnownTest) {
            (suite, name) = (Array(test.suite.utf8), Array(test.name.utf8))
            // Some formats name a test's file and others don't.
            file = test.name.isEmpty ? Array((test.file ?? "").utf8) : []
        }
    }
}
