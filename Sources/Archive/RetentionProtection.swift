import Store
import Results

/// Which runs no retention removes, and why.
public struct RetentionProtection: Sendable {
    /// Why a run stays although it is over a limit.
    public enum Reason: String, Sendable, Codable, CaseIterable {
        /// A person has been asked about it and has not answered.
        case waitsForPerson
        /// The newest verdict of a change that has not landed: `wait` would say that nothing is run for it.
        case newestOfOpenChange
        /// The newest verdicts of a branch, the target among them: changes are compared with these.
        case newestOfBranch
        /// An attempt to fix a run that stays.
        case fixOfKeptRun
        /// The newest run of all: a rebuilt index learns from it which numbers are taken.
        case newestOfAll
    }

    let reasons: [RunID: Reason]

    /// - Parameter rows: All archived runs, ascending.
    init(_ rows: [Index.RetentionRow], keepNewestPerBranch: Int) {
        var reasons: [RunID: Reason] = [:]
        func keep(_ row: Index.RetentionRow, _ reason: Reason) {
            if reasons[row.id] == nil { reasons[row.id] = reason }
        }
        for row in rows where row.isHeld { keep(row, .waitsForPerson) }
        var seen: [[String]: Int] = [:]
        for row in rows.reversed() where row.isVerdict {
            if let change = row.change {
                guard row.isChangeOpen else { continue }
                let key = [row.repository, row.workflow, "change", change]
                seen[key, default: 0] += 1
                if seen[key] == 1 { keep(row, .newestOfOpenChange) }
            } else if let branch = row.branch {
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
