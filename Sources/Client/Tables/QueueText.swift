package import Control
package import Foundation
import Results
import TerminalText

/// A merge queue as lines for people.
package enum QueueText {
    package static func text(_ queue: MergeQueueStatus, at now: Date = Date()) -> String {
        var lines = ["\(queue.branch) of \(queue.repository) at \(queue.target.prefix(10))"]
        if let frozen = queue.frozen { lines.append("frozen: \(frozen); `pipectl queue --resume` lets it go on") }
        if !queue.isDeclared { lines.append("waits: \(queue.branch) declares no landing") }
        if queue.entries.isEmpty { lines.append("nothing waits") }
        var text = lines.map { TerminalText.name($0, limit: 1_000) + "\n" }.joined()
        if !queue.entries.isEmpty {
            text += TextTable.text(
                ["", "change", "commit", "state", "tested", "runs", "lands", "asked by", "title"],
                queue.entries.map { row($0, now) })
        }
        if !queue.ended.isEmpty {
            text += "\n" + TextTable.text(["left", "change", "commit", "why"], queue.ended.prefix(10).map(row))
        }
        return text
    }

    private static func row(_ entry: MergeQueueStatus.Entry, _ now: Date) -> [String] {
        [
            "\(entry.position)", entry.change + (entry.priority == 0 ? "" : " (priority \(entry.priority))"),
            String(entry.head.prefix(10)), entry.state.rawValue, place(entry),
            entry.runs.map { "\($0)" }.joined(separator: ", "), estimate(entry, now), entry.askedBy, entry.title,
        ]
    }

    private static func place(_ entry: MergeQueueStatus.Entry) -> String {
        var parts: [String] = []
        if !entry.with.isEmpty { parts.append("with \(entry.with.joined(separator: ", "))") }
        if !entry.onTopOf.isEmpty { parts.append("on top of \(entry.onTopOf.joined(separator: ", "))") }
        if let reason = entry.reason { parts.append(reason) }
        if !entry.conflicts.isEmpty { parts.append("conflicts with \(entry.conflicts.joined(separator: ", "))") }
        return parts.joined(separator: " ")
    }

    private static func estimate(_ entry: MergeQueueStatus.Entry, _ now: Date) -> String {
        guard let estimate = entry.estimate else { return "" }
        let seconds = max(estimate.timeIntervalSince(now), 0)
        return seconds < 1 ? "now" : "in \(Figures.duration(seconds.rounded()))"
    }

    private static func row(_ ended: MergeQueueStatus.Ended) -> [String] {
        [
            ended.isUntested == true ? "landed, untested" : ended.outcome, ended.change,
            String((ended.commit ?? ended.head).prefix(10)), ended.reason,
        ]
    }
}
