/// A row of values as a one-line plot, for terminals and pages.
public enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// The most values that are plotted; the newest ones are taken.
    public static let limit = 60

    /// Durations as bars. The longest has full height; a missing one is a space.
    public static func durations(of trend: TestTrend) -> String {
        let points = trend.points.suffix(limit)
        let most = points.compactMap(\.duration).filter(\.isFinite).max() ?? 0
        return String(
            points.map { point in
                guard let value = point.duration, value.isFinite, most > 0 else { return " " }
                return bars[min(bars.count - 1, max(0, Int(value / most * Double(bars.count))))]
            })
    }

    /// Results as bars: low if the test passed, half if it passed in a retry, high if it failed.
    public static func results(of trend: TestTrend) -> String {
        String(
            trend.points.suffix(limit).map { point -> Character in
                switch point.status {
                case .failed, .errored: "█"
                case .skipped: "·"
                case .expectedFailure: "▂"
                case .passed: point.isFlaky ? "▄" : "▁"
                }
            })
    }
}
