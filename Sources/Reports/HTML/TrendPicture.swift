package import Results

/// The results and durations of a test as a picture for a page.
package enum TrendPicture {
    /// A bar for each run: its height is the duration, its colour the result.
    package static func svg(of trend: TestTrend) -> HTML {
        let points = Array(trend.points.suffix(Sparkline.limit))
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
