import Pipeline
import Results

/// How long the tests of one step took in its last runs.
struct TestTimes: Sendable, Equatable, Codable {
    struct Entry: Sendable, Equatable, Codable {
        var suite: String
        var name: String
        var file: String?
        /// Of the last runs, newest first.
        var seconds: [Double]
        /// In how many runs since then the test was missing.
        var missing = 0
    }

    var formatVersion = 1
    /// By the tests' ids.
    private(set) var tests: [String: Entry] = [:]

    /// How many runs are remembered of each test.
    private static let depth = 3
    /// After so many runs without it, a test is forgotten.
    private static let patience = 20
    static let mostTests = 200_000

    /// The tests with their median seconds.
    var known: [KnownTest] {
        tests.values.map { entry in
            KnownTest(suite: entry.suite, name: entry.name, file: entry.file, seconds: Self.median(entry.seconds))
        }
    }

    /// Adds the results of a run of the whole step.
    mutating func add(_ results: [TestResult]) {
        var taken: [String: (entry: Entry, attempt: Int)] = [:]
        for result in results where [.passed, .failed, .expectedFailure].contains(result.status) {
            guard let seconds = result.duration, seconds.isFinite, seconds >= 0,
                result.suite.utf8.count + result.name.utf8.count <= TestList.longestTest
            else { continue }
            let own = taken[result.id]
            if let own, own.attempt > result.attempt { continue }
            // Results of one try with the same name are cases of one test.
            let before = own.flatMap { $0.attempt == result.attempt ? $0.entry.seconds.first : nil } ?? 0
            let entry = Entry(
                suite: result.suite, name: result.name, file: result.file.map { String($0.prefix(1_024)) },
                seconds: [before + seconds])
            taken[result.id] = (entry, result.attempt)
        }
        guard !taken.isEmpty else { return }
        for (id, (entry, _)) in taken where tests[id] != nil || tests.count < Self.mostTests {
            var entry = entry
            entry.seconds += tests[id]?.seconds.prefix(Self.depth - 1) ?? []
            tests[id] = entry
        }
        for (id, entry) in tests where taken[id] == nil {
            if entry.missing + 1 >= Self.patience { tests[id] = nil } else { tests[id]?.missing += 1 }
        }
    }

    private static func median(_ values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
