public import Results
import TerminalText

/// What was done about a failed run, in lines for people; safe to show.
public enum FixWords {
    /// First what it came to, then each attempt, then how to take it over.
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

    /// The command that puts the fix onto the branch that is checked out.
    public static func command(_ run: RunID) -> String { "pipectl fix \(run) --patch | git am" }
}
