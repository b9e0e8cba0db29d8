import Archive
import Engine
import Foundation
import Pipeline

/// What a run says of tests that came out both ways, and of those in quarantine.
extension RunExecutor {
    /// Runs whose results a rate is taken of.
    static let flakyWindow = 200

    /// A finding for each test that failed and passed on the same tree, with what earlier runs know of it.
    func flakyFindings(_ tests: [TestResult], _ report: Report) async -> [Finding] {
        var failed: Set<String> = []
        var last: [String: TestResult] = [:]
        for test in tests {
            if test.status.isFailure { failed.insert(test.id) }
            if (last[test.id]?.attempt ?? 0) <= test.attempt { last[test.id] = test }
        }
        let flaky = failed.compactMap { last[$0] }.filter { $0.status == .passed }.sorted { $0.id < $1.id }.prefix(50)
        guard !flaky.isEmpty else { return [] }
        let known =
            (try? await index.flakyTests(TestFilter(repository: report.repository, limit: Self.flakyWindow))) ?? []
        return flaky.map { test in
            let place = tests.first { $0.id == test.id && $0.status.isFailure } ?? test
            let history =
                known.first { $0.suite == test.suite && $0.name == test.name }.map { Self.words(for: $0) }
                ?? "this did not happen in the last \(Self.flakyWindow) runs"
            return Finding(
                rule: "flaky-test", severity: .warning,
                message: "\(test.id) failed and passed on the same tree; \(history)", file: place.file,
                line: place.line,
                suggestion: "see it with: pipectl history \(test.id.shellQuoted)")
        }
    }

    /// Tests that came out both ways on one tree lately, where a step wants to know.
    func knownFlaky(for plan: Plan, of repository: String) async -> Set<String> {
        guard plan.steps.contains(where: { ($0.testRetry?.timesKnown ?? 0) > ($0.testRetry?.times ?? 0) }) else {
            return []
        }
        let known = try? await index.flakyTests(TestFilter(repository: repository, limit: Self.flakyWindow))
        return Set((known ?? []).map(\.id))
    }

    private static func words(for test: FlakyTest) -> String {
        let first = test.firstRun.map { run in
            ", first in run \(run)"
                + (test.firstEndedAt.map { " on \($0.formatted(.iso8601.year().month().day()))" } ?? "")
        }
        return "this happened in \(test.flips) of its last \(test.runs) runs\(first ?? "")"
    }

    /// The quarantine that holds today, and what is wrong with the rest of it.
    static func quarantine(
        _ declared: [Quarantine]?, today: Date = Date()
    ) -> (active: [Quarantine], findings: [Finding]) {
        var active: [Quarantine] = []
        var findings: [Finding] = []
        for one in declared ?? [] {
            func find(_ rule: String, _ message: String, _ suggestion: String) {
                findings.append(Finding(rule: rule, severity: .warning, message: message, suggestion: suggestion))
            }
            guard let end = day(one.until) else {
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
        return (active, findings)
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
