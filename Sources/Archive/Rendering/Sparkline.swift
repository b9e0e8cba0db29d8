import Engine

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

extension Sparkline {
    /// Both as a picture: a bar for each run, as high as it took long and in the colour of its result.
    static func svg(of trend: TestTrend) -> HTML {
        let points = Array(trend.points.suffix(limit))
        let most = points.compactMap(\.duration).filter(\.isFinite).max() ?? 0
        let failed = points.count { $0.status.isFailure }
        let flaky = points.count(where: \.isFlaky)
        var html: HTML = """
            <svg class="trend" role="img" width="\(points.count * 4)" height="16" \
            viewBox="0 0 \(points.count * 4) 16"><title>\(points.count) runs: \(failed) failed, \(flaky) flaky</title>
            """
        for (index, point) in points.enumerated() {
            let share = point.duration.map { $0.isFinite && most > 0 ? $0 / most : 0.5 } ?? 0.5
            let height = max(3, min(16, Int(share * 16)))
            let state: HTML =
                switch point.status {
                case .failed, .errored: "f"
                case .skipped: "s"
                case .expectedFailure: "x"
                case .passed: point.isFlaky ? "y" : "p"
                }
            html +=
                "<rect class=\"\(state)\" x=\"\(index * 4)\" y=\"\(16 - height)\" width=\"3\" height=\"\(height)\"/>"
        }
        html += "</svg>"
        return html
    }
}
