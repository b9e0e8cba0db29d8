public import Engine
import Foundation

/// How figures, states and times read, the same in every format.
public enum Wording {
    /// `420 ms`, `12.3 s`, `2 min 3 s`, `1 h 4 min`: as everywhere else, see `Duration.inWords`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "–" }
        return Duration.seconds(seconds).inWords
    }

    static func duration(from start: Date, to end: Date) -> String { duration(max(0, end.timeIntervalSince(start))) }

    /// `+2.3s`, `+2:03`, `+1:02:03`: short enough for the margin of a log.
    static func offset(milliseconds: Int) -> String {
        let seconds = max(milliseconds, 0) / 1000
        if seconds < 60 { return "\(seconds).\(max(milliseconds, 0) / 100 % 10)s" }
        if seconds < 3600 { return "\(seconds / 60):\(twoDigits(seconds % 60))" }
        return "\(seconds / 3600):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    }

    /// `14:03:22 UTC`.
    static func time(_ date: Date) -> String {
        let parts = Parts(date)
        return "\(twoDigits(parts.hour)):\(twoDigits(parts.minute)):\(twoDigits(parts.second)) UTC"
    }

    /// `21 Nov 2026, 14:03:22 UTC`.
    static func dateAndTime(_ date: Date) -> String {
        let parts = Parts(date)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(parts.day) \(months[parts.month - 1]) \(parts.year), \(time(date))"
    }

    /// `2026-11-21T14:03:22.123Z`.
    static func iso8601(_ date: Date) -> String {
        let parts = Parts(date)
        let year = String(repeating: "0", count: max(0, 4 - String(parts.year).count)) + String(parts.year)
        let milliseconds = String(String(1000 + parts.milliseconds).dropFirst())
        return "\(year)-\(twoDigits(parts.month))-\(twoDigits(parts.day))T\(twoDigits(parts.hour)):"
            + "\(twoDigits(parts.minute)):\(twoDigits(parts.second)).\(milliseconds)Z"
    }

    /// `832 bytes`, `14.2 kB`, `3.1 MB`.
    static func size(_ bytes: Int) -> String {
        if bytes < 1000 { return count(bytes, "byte") }
        var value = Double(bytes)
        for unit in ["kB", "MB", "GB"] {
            value /= 1000
            if value < 999.95 || unit == "GB" {
                let tenths = Int((value * 10).rounded())
                return "\(grouped(tenths / 10)).\(tenths % 10) \(unit)"
            }
        }
        return count(bytes, "byte")
    }

    /// `1 test`, `2 tests`, `20,000 tests`.
    static func count(_ number: Int, _ noun: String) -> String { "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")" }

    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// The first ten digits of a commit id.
    static func short(_ commit: String) -> String { String(commit.prefix(10)) }

    /// One sign for each verdict, wherever it is shown.
    public static func symbol(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "✓"
        case .failed, .definitionError: "✗"
        case .conflict: "⑂"
        case .flaky: "≈"
        case .infrastructure: "!"
        case .superseded: "»"
        case .cancelled: "■"
        case .needsApproval: "?"
        case .notApplicable: "–"
        }
    }

    /// The same for the states of steps.
    public static func symbol(_ status: StepStatus) -> String {
        switch status {
        case .passed: "✓"
        case .failed, .timedOut: "✗"
        case .infrastructure: "!"
        case .cancelled: "■"
        case .skipped: "–"
        case .waiting: "·"
        case .running: "▶"
        }
    }

    static func title(_ status: StepStatus) -> String { status == .timedOut ? "timed out" : status.rawValue }

    /// `proved by run 12 of 1a2b3c4d5e` or `passed in run 12`, for a step that was not run because of it; nil for all others.
    static func proof(_ step: StepRecord) -> String? {
        step.provedBy.map { "proved by \(run($0))" } ?? step.carriedFrom.map { "passed in run \($0.run)" }
    }

    /// `run 12 of 1a2b3c4d5e`: the run, and the pushed commit where the report has it.
    static func run(_ proof: ProofCitation) -> String {
        "run \(proof.run)" + (proof.head.map { " of \(TerminalText.name(short($0)))" } ?? "")
    }

    static func title(_ status: TestResult.Status) -> String {
        status == .expectedFailure ? "expected failure" : status.rawValue
    }

    /// `1,203 passed, 2 failed, 3 skipped`; the parts that are zero are left out.
    static func counts(_ counts: TestCounts) -> String {
        guard counts.total > 0 else { return "no tests" }
        var parts: [String] = []
        if counts.failed > 0 { parts.append("\(grouped(counts.failed)) failed") }
        if counts.passed > 0 { parts.append("\(grouped(counts.passed)) passed") }
        if counts.skipped > 0 { parts.append("\(grouped(counts.skipped)) skipped") }
        if counts.expectedFailures > 0 {
            parts.append(count(counts.expectedFailures, "expected failure"))
        }
        return parts.joined(separator: ", ")
    }

    static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    /// A date in the proleptic Gregorian calendar, UTC, without a formatter (Howard Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms").
    private struct Parts {
        var year, month, day, hour, minute, second, milliseconds: Int

        init(_ date: Date) {
            // Dates beyond ±200,000 years are broken input; Int would trap on some of them.
            let seconds = min(max(date.timeIntervalSince1970, -6e12), 6e12)
            let total = Int((seconds.isNaN ? 0 : seconds * 1000).rounded())
            let days = Int((Double(total) / 86_400_000).rounded(.down))
            let inDay = total - days * 86_400_000
            (hour, minute) = (inDay / 3_600_000, inDay / 60_000 % 60)
            (second, milliseconds) = (inDay / 1000 % 60, inDay % 1000)
            let shifted = days + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let shiftedMonth = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
            month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }
    }
}
