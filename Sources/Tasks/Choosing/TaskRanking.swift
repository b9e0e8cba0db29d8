import Pipeline
package import Results

/// Orders the tries of a task: the best first.
package enum TaskRanking {
    /// A try with what is known of it.
    package struct Candidate: Sendable, Equatable {
        package var made: TaskTry
        /// The verdicts of its checks. A try without one is no candidate for a change.
        package var verdicts: [Verdict]
        /// How many ways the checks found in which it weakens tests.
        package var breaches: Int
        /// Open findings of the reviewer; empty where none reviewed it.
        package var findings: [ReviewFinding]
        /// Whether its tests were shown to fail on the target, where that was demanded.
        package var isReproduced: Bool

        package init(
            made: TaskTry, verdicts: [Verdict], breaches: Int = 0, findings: [ReviewFinding] = [],
            isReproduced: Bool = true
        ) {
            self.made = made
            self.verdicts = verdicts
            self.breaches = breaches
            self.findings = findings
            self.isReproduced = isReproduced
        }

        /// Whether a person may be asked to land it.
        package var isUsable: Bool {
            isReproduced && !verdicts.isEmpty && verdicts.allSatisfy { $0 == .passed || $0 == .flaky }
        }

        func count(_ severity: ReviewSeverity) -> Int {
            findings.count { $0.fate == .open && $0.severity == severity }
        }

        /// What decides, the first difference first; smaller is better.
        var key: [Int] {
            let worst = verdicts.map(Self.badness).max() ?? 100
            let review = [count(.error), count(.warning), made.unplanned.count, count(.note)]
            let size = [made.additions + made.deletions, made.files.count]
            return [isUsable ? 0 : 1, worst, breaches] + review + size + [made.attempt]
        }

        private static func badness(_ verdict: Verdict) -> Int {
            switch verdict {
            case .passed: 0
            case .flaky: 1
            case .needsApproval: 2
            case .failed: 3
            default: 4
            }
        }
    }

    /// The best first. Of equal tries the earlier one is first.
    package static func ranked(_ candidates: [Candidate]) -> [Candidate] {
        candidates.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The try to offer, and why it rather than the next one; nil if none is usable.
    package static func best(of candidates: [Candidate]) -> (made: TaskTry, reason: String)? {
        let ranked = ranked(candidates)
        guard let first = ranked.first, first.isUsable else { return nil }
        guard let second = ranked.dropFirst().first else {
            return (first.made, "try \(first.made.attempt) is the only one")
        }
        return (
            first.made, "try \(first.made.attempt) is better than try \(second.made.attempt): \(why(first, second))"
        )
    }

    private static func why(_ one: Candidate, _ other: Candidate) -> String {
        let reasons: [String] = [
            "it passes", "its checks are cleaner", "it weakens fewer tests",
            "the reviewer found \(one.count(.error)) errors rather than \(other.count(.error))",
            "the reviewer found \(one.count(.warning)) warnings rather than \(other.count(.warning))",
            "\(one.made.unplanned.count) rather than \(other.made.unplanned.count) of its files are outside of the plan",
            "the reviewer has fewer remarks",
            "it changes \(one.made.additions + one.made.deletions) rather than \(other.made.additions + other.made.deletions) lines",
            "it changes \(one.made.files.count) rather than \(other.made.files.count) files",
        ]
        let (mine, others) = (one.key, other.key)
        let place = reasons.indices.first { mine[$0] < others[$0] }
        return place.map { reasons[$0] } ?? "it came first"
    }
}
