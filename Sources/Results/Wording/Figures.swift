package import Foundation

/// Durations, times, sizes and counts in words, the same everywhere.
package enum Figures {
    /// `420 ms`, `12.3 s`, `2 min 3 s`, `1 h 4 min`: the same as `Duration.inWords`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "–" }
        return Duration.seconds(seconds).inWords
    }

    /// The time between two dates as text, at least zero.
    package static func duration(from start: Date, to end: Date) -> String {
        duration(max(0, end.timeIntervalSince(start)))
    }

    /// `+2.3s`, `+2:03`, `+1:02:03`: short enough for a log's margin.
    package static func offset(milliseconds: Int) -> String {
        let seconds = max(milliseconds, 0) / 1000
        if seconds < 60 { return "\(seconds).\(max(milliseconds, 0) / 100 % 10)s" }
        if seconds < 3600 { return "\(seconds / 60):\(twoDigits(seconds % 60))" }
        return "\(seconds / 3600):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    }

    /// `14:03:22 UTC`.
    package static func time(_ date: Date) -> String {
        let parts = Parts(date)
        return "\(twoDigits(parts.hour)):\(twoDigits(parts.minute)):\(twoDigits(parts.second)) UTC"
    }

    /// `21 Nov 2026, 14:03:22 UTC`.
    package static func dateAndTime(_ date: Date) -> String {
        let parts = Parts(date)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(parts.day) \(months[parts.month - 1]) \(parts.year), \(time(date))"
    }

    /// `832 bytes`, `14.2 kB`, `3.1 MB`.
    package static func size(_ bytes: Int) -> String {
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
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `20,000`: digits in groups of three.
    package static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// `07`: at least two digits.
    package static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    /// A date in the proleptic Gregorian calendar, UTC, without a formatter (Howard Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms").
    private struct Parts {
        var year, month, day, hour, minute, second: Int

        init(_ date: Date) {
            // Dates beyond ±200,000 years are broken input; Int would trap on some of them.
            let seconds = min(max(date.timeIntervalSince1970, -6e12), 6e12)
            let total = Int((seconds.isNaN ? 0 : seconds * 1000).rounded())
            let days = Int((Double(total) / 86_400_000).rounded(.down))
            let inDay = total - days * 86_400_000
            (hour, minute) = (inDay / 3_600_000, inDay / 60_000 % 60)
            second = inDay / 1000 % 60
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
