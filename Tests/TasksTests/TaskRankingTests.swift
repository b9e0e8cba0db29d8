import Pipeline
import Results
@testable import Tasks
import Testing

struct TaskRankingTests {
    private func candidate(
        _ attempt: Int, _ verdicts: [Verdict] = [.passed], breaches: Int = 0, errors: Int = 0, notes: Int = 0,
        lines: Int = 10, unplanned: Int = 0, isReproduced: Bool = true
    ) -> TaskRanking.Candidate {
        func finding(_ severity: ReviewSeverity, _ fate: ReviewFinding.Fate = .open) -> ReviewFinding {
            ReviewFinding(fingerprint: "f", severity: severity, rule: "r", message: "m", fate: fate, head: "h")
        }
        return TaskRanking.Candidate(
            made: TaskTry(
                attempt: attempt, agent: "a", run: 1, commit: "c", ref: "r", files: ["f"], additions: lines,
                deletions: 0,
                unplanned: Array(repeating: "u", count: unplanned), summary: nil),
            verdicts: verdicts, breaches: breaches,
            findings: Array(repeating: finding(.error), count: errors) + Array(repeating: finding(.note), count: notes)
                + [finding(.error, .withdrawn)],
            isReproduced: isReproduced)
    }

    private func order(_ candidates: TaskRanking.Candidate...) -> [Int] {
        TaskRanking.ranked(candidates).map(\.made.attempt)
    }

    @Test func `verdict, integrity, review and size decide in this order`() {
        #expect(order(candidate(1, [.failed]), candidate(2, lines: 900)) == [2, 1])
        #expect(order(candidate(1, [.passed, .failed]), candidate(2, [.flaky])) == [2, 1])
        #expect(order(candidate(1, [.flaky]), candidate(2, errors: 3)) == [2, 1])
        #expect(order(candidate(1, breaches: 1), candidate(2, errors: 3)) == [2, 1])
        #expect(order(candidate(1, errors: 1), candidate(2, lines: 900)) == [2, 1])
        #expect(order(candidate(1, unplanned: 1), candidate(2, notes: 5)) == [2, 1])
        #expect(order(candidate(1, lines: 20), candidate(2, lines: 10)) == [2, 1])
        #expect(order(candidate(2), candidate(1)) == [1, 2])
        #expect(order(candidate(1, isReproduced: false), candidate(2, errors: 9)) == [2, 1])
        #expect(order(candidate(1, []), candidate(2, [.flaky])) == [2, 1])
    }

    @Test func `the reason says what made the difference`() {
        #expect(TaskRanking.best(of: []) == nil)
        #expect(TaskRanking.best(of: [candidate(1, [.failed])]) == nil)
        #expect(TaskRanking.best(of: [candidate(1, [])]) == nil)
        #expect(TaskRanking.best(of: [candidate(1)])?.made.attempt == 1)
        let best = TaskRanking.best(of: [candidate(1, errors: 2), candidate(2, errors: 1)])
        #expect(best?.made.attempt == 2)
        #expect(best?.reason.contains("1 errors rather than 2") == true || best?.reason.contains("1 error") == true)
        #expect(
            TaskRanking.best(of: [candidate(1), candidate(2, lines: 30)])?.reason.contains("10 rather than 30") == true)
    }
}
