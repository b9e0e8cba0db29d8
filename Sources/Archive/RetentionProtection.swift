import Store
import Results
internal import Foundation

/// The runs that no retention removes, with the reason for each.
public struct RetentionProtection: Sendable {
    /// How many days after a run's end the newest verdicts of changes and of branches other than the target are
    /// protected. A ref may stay forever although nobody needs its verdict any more.
    static let days = 90.0

    let reasons: [RunID: RetentionReason]

    /// - Parameter rows: All archived runs, ascending.
    init(_ rows: [Index.RetentionRow], keepNewestPerBranch: Int, now: Date) {
        let oldest = now.addingTimeInterval(-Self.days * 86_400)
        var reasons: [RunID: RetentionReason] = [:]
        func keep(_ row: Index.RetentionRow, _ reason: RetentionReason) {
            if reasons[row.id] == nil { reasons[row.id] = reason }
        }
        for row in rows where row.isHeld { keep(row, .waitsForPerson) }
        for row in rows where row.isOfOpenTask { keep(row, .partOfOpenTask) }
        var seen: [[String]: Int] = [:]
        for row in rows.reversed() where row.isVerdict {
            if let change = row.change {
                guard row.isChangeOpen, row.endedAt >= oldest else { continue }
                let key = [row.repository, row.workflow, "change", change]
                seen[key, default: 0] += 1
                if seen[key] == 1 { keep(row, .newestOfOpenChange) }
            } else if let branch = row.branch, row.isOfTarget || row.endedAt >= oldest {
                let key = [row.repository, row.workflow, "branch", branch]
                seen[key, default: 0] += 1
                if seen[key, default: 0] <= max(keepNewestPerBranch, 1) { keep(row, .newestOfBranch) }
            }
        }
        for row in rows {
            if let failed = row.fixOf, reasons[failed] != nil { keep(row, .fixOfKeptRun) }
        }
        if let last = rows.last { keep(last, .newestOfAll) }
        self.reasons = reasons
    }
}
