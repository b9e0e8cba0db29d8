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

    /// `3 s ago`, `5 min ago`, `2 h ago`, `4 d ago`: one unit, rounded down. A date after `now` is `0 s ago`.
    package static func age(of date: Date, at now: Date) -> String {
        let seconds = Int(min(max(now.timeIntervalSince(date), 0), 1e12))
        switch seconds {
        case ..<60: return "\(seconds) s ago"
        case ..<3_600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3_600) h ago"
        default: return "\(seconds / 86_400) d ago"
        }
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

    /// A date in UTC, whole seconds.
    private struct Parts {
        var year, month, day, hour, minute, second: Int

        init(_ date: Date) {
            let (day, milliseconds) = date.civilDay
            (year, month, self.day) = (Int(day.year), Int(day.month), Int(day.day))
            let second = Int(milliseconds / 1000)
            (hour, minute, self.second) = (second / 3600, second / 60 % 60, second % 60)
        }
    }
}
