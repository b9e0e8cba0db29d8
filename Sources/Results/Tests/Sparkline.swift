/// A row of values as a plot of one line: for a terminal, and for a page.
public enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// Of what is plotted, the newest.
    public static let limit = 60

    /// Durations as bars, the longest one full; a space where there is none.
    public static func durations(of trend: TestTrend) -> String {
        let points = trend.points.suffix(limit)
        let most = points.compactMap(\.duration).filter(\.isFinite).max() ?? 0
        return String(
            points.map { point in
                guard let value = point.duration, value.isFinite, most > 0 else { return " " }
                return bars[min(bars.count - 1, max(0, Int(value / most * Double(bars.count))))]
            })
    }

    /// Results as signs: low where it passed, half where it passed at a further try, high where it failed.
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
