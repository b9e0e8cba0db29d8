import Archive
package import Control
import Results

/// What `gc` removed and retained: a line for each reason, and a summary.
package enum CollectText {
    package static func lines(_ reply: CollectReply, verbose: Bool) -> [String] {
        let plan = reply.plan
        var lines: [String] = []
        if verbose {
            lines += plan.removals.map { "run \($0.run)  removed: \($0.reason)" }
            lines += plan.kept.map { "run \($0.run)  kept: \(words($0.reason))" }
            lines += (reply.stores ?? []).map { "mirrors/\($0.name)  removed: its clone is gone" }
        }
        let verb = reply.isDryRun ? "would be removed" : "removed"
        for limit in RetentionPlan.Limit.allCases {
            let runs = plan.removals.filter { $0.limit == limit }
            guard let first = runs.first else { continue }
            lines.append("\(Count.text(runs.count, "run")) \(verb): \(words(limit, first))")
        }
        for reason in RetentionReason.allCases {
            let count = plan.kept.count { $0.reason == reason }
            if count > 0 { lines.append("\(Count.text(count, "run")) kept: \(words(reason))") }
        }
        if let stores = reply.stores, !stores.isEmpty {
            lines.append("\(Count.text(stores.count, "store")) of deleted clones \(verb)")
        }
        lines.append(
            "\(Count.text(plan.removals.count, "run")) and \(Count.text(plan.artifacts.count, "artifact")) \(verb) "
                + "(\(plan.bytes >> 10) KiB), \(Count.text(plan.keptRuns, "run")) kept")
        return lines
    }

    /// For one run, the text contains its age; for several, only the limit.
    private static func words(_ limit: RetentionPlan.Limit, _ first: RetentionPlan.Removal) -> String {
        switch limit {
        case .age: "over the age limit"
        case .runs, .bytes: first.reason
        }
    }

    private static func words(_ reason: RetentionReason) -> String {
        switch reason {
        case .waitsForPerson: "needs approval"
        case .newestOfOpenChange: "newest verdict of an open change"
        case .newestOfBranch: "newest of its branch"
        case .fixOfKeptRun: "fix attempt of a run that is kept"
        case .partOfOpenTask: "part of a task that goes on"
        case .newestOfAll: "newest run of all"
        }
    }
}

/// A number with its noun: `1 run`, `2 runs`.
package enum Count {
    package static func text(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
