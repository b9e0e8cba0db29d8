public import Results
import TerminalText

/// The attempts at fixing a run, as lines for people. The lines are safe to show.
public enum FixWords {
    /// First the result, then each attempt, then how to apply the fix.
    public static func lines(_ series: FixSeries, of run: RunID) -> [String] {
        var lines = ["fix \(series.state.title): \(TerminalText.name(series.reason, limit: 1_000))"]
        for attempt in series.attempts.suffix(20) {
            let check = attempt.check.map { ", checked by run \($0)" } ?? ""
            lines.append(
                "  attempt \(attempt.number), run \(attempt.run)\(check): \(TerminalText.name(attempt.reason, limit: 500))"
            )
            guard let commit = attempt.commit else { continue }
            let files = (attempt.files ?? []).prefix(5).map { TerminalText.name($0, limit: 120) }.joined(
                separator: ", ")
            let more = (attempt.files?.count ?? 0) > 5 ? " and \((attempt.files?.count ?? 0) - 5) more" : ""
            lines.append(
                "    \(commit.prefix(10)) +\(attempt.additions ?? 0) −\(attempt.deletions ?? 0) in \(files)\(more)")
        }
        if series.chosen != nil, series.state != .pushed { lines.append("  apply it: \(command(run))") }
        return lines
    }

    /// The command that applies the fix to the checked-out branch.
    public static func command(_ run: RunID) -> String { "pipectl fix \(run) --patch | git am" }
}
