import Results
import Foundation
import Testing

@Suite struct TrendTests {
    private func appearance(_ run: RunID, _ status: TestResult.Status, attempt: Int = 1, seconds: Double? = nil)
        -> TestAppearance
    {
        TestAppearance(
            run: run, workflow: "test", head: "h", branch: nil, change: nil, endedAt: nil,
            result: TestResult(suite: "S", name: "a", status: status, duration: seconds, attempt: attempt))
    }

    /// Newest run first, with each run's tries in order, as the store returns them.
    private var trend: TestTrend {
        TestTrend(
            suite: "S", name: "a",
            [
                appearance(9, .skipped), appearance(7, .failed, seconds: 1),
                appearance(7, .passed, attempt: 2, seconds: 2),
                appearance(4, .failed, seconds: 8), appearance(3, .passed, seconds: 4),
            ])
    }

    @Test func `a trend has one point for each run, oldest first`() {
        #expect(trend.points.map(\.run) == [3, 4, 7, 9])
        #expect(trend.points.map(\.status) == [.passed, .failed, .passed, .skipped])
        #expect(trend.points.map(\.isFlaky) == [false, false, true, false])
        #expect(trend.medianSeconds == 4)
    }

    @Test func plots() {
        #expect(Sparkline.results(of: trend) == "▁█▄·")
        #expect(Sparkline.durations(of: trend) == "▅█▃ ")
        let odd = TestTrend(
            suite: "", name: "a",
            points: [.init(run: 1, status: .passed, duration: .infinity), .init(run: 2, status: .passed, duration: 0)])
        #expect(Sparkline.durations(of: odd) == "  ", "nothing to compare with")
    }
}
