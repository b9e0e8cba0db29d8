import Engine
import Store
package import Results
package import Foundation
package import Pipeline

/// The declared quarantine of a workflow on a given day.
package struct QuarantineList: Sendable {
    /// Valid entries: failures of these tests fail no step.
    package private(set) var active: [Quarantine] = []
    /// What is wrong with the other entries.
    package private(set) var findings: [Finding] = []

    package init(_ declared: [Quarantine]?, today: Date = Date()) {
        for one in declared ?? [] {
            func find(_ rule: String, _ message: String, _ suggestion: String) {
                findings.append(Finding(rule: rule, severity: .warning, message: message, suggestion: suggestion))
            }
            guard let end = Self.day(one.until) else {
                find(
                    "quarantine-date", "the quarantine of \(one.test) ends on \"\(one.until)\", which is not a date",
                    "write it as 2026-12-31")
                continue
            }
            let days = end.timeIntervalSince(today) / 86_400
            if days < 0 {
                find(
                    "quarantine-expired",
                    "the quarantine of \(one.test) ended on \(one.until): its failures count again",
                    "fix the test, and remove the quarantine from workflows/")
            } else if days > Double(Quarantine.maximumDays + 1) {
                find(
                    "quarantine-too-far",
                    "the quarantine of \(one.test) lasts until \(one.until), more than \(Quarantine.maximumDays) days ahead: it is ignored",
                    "choose an earlier date")
            } else {
                active.append(one)
            }
        }
    }

    /// The end of a day, in UTC.
    private static func day(_ text: String) -> Date? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard text.utf8.count == 10, parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2]
        else {
            return nil
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(year: year, month: month, day: day)
        guard let start = calendar.date(from: components), calendar.component(.day, from: start) == day,
            calendar.component(.month, from: start) == month
        else { return nil }
        return calendar.date(byAdding: .day, value: 1, to: start)
    }
}
