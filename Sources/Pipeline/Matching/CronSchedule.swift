/// A schedule of five cron fields, in UTC: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday).
///
/// Fields take `*`, numbers, ranges `1-5`, lists `1,15` and steps `*/10`. When both day fields are limited, it is
/// enough that one of them matches, as in crontab(5).
public struct CronSchedule: Sendable, Equatable {
    private let minutes: Set<Int>
    private let hours: Set<Int>
    private let days: Set<Int>
    private let months: Set<Int>
    private let weekdays: Set<Int>
    private let limitsDays: Bool
    private let limitsWeekdays: Bool

    /// Reads the five fields.
    ///
    /// - Throws: ``CronProblem`` when there are not five fields, or when one is out of its range.
    public init(_ text: String) throws(CronProblem) {
        let fields = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard fields.count == 5 else {
            throw CronProblem(
                description:
                    "\"\(text)\" has \(fields.count) fields; a schedule has five: minute hour day month weekday")
        }
        minutes = try CronSchedule.values(fields[0], 0...59, "minute")
        hours = try CronSchedule.values(fields[1], 0...23, "hour")
        days = try CronSchedule.values(fields[2], 1...31, "day")
        months = try CronSchedule.values(fields[3], 1...12, "month")
        let named = try CronSchedule.values(fields[4], 0...7, "weekday")
        weekdays = Set(named.map { $0 % 7 })
        // As in crontab(5), a field that begins with a star does not count as limited, although `*/2` leaves days out.
        limitsDays = !fields[2].hasPrefix("*")
        limitsWeekdays = !fields[4].hasPrefix("*")
    }

    /// Whether the schedule names the minute that holds `time`, in seconds since 1970.
    public func matches(secondsSince1970 time: Int) -> Bool {
        let minuteCount = time / 60
        let day = minuteCount / 1_440
        let (month, dayOfMonth) = CronSchedule.civil(daysSince1970: day)
        guard minutes.contains(minuteCount % 60), hours.contains(minuteCount / 60 % 24), months.contains(month) else {
            return false
        }
        return isMeant(day: day, dayOfMonth)
    }

    private func isMeant(day: Int, _ dayOfMonth: Int) -> Bool {
        let inDays = days.contains(dayOfMonth)
        let inWeekdays = weekdays.contains((day + 4) % 7)  // 1 January 1970 was a Thursday
        return limitsDays && limitsWeekdays ? inDays || inWeekdays : inDays && inWeekdays
    }

    /// The start of the next minute after `time` that the schedule names, in seconds since 1970; nil when none comes
    /// within 9 years.
    ///
    /// 29 February comes again after at most 8 years, because 2100 is not a leap year.
    public func next(after time: Int) -> Int? {
        var minute = (time / 60 + 1) * 60
        let end = time + 9 * 366 * 86_400
        while minute <= end {
            if matches(secondsSince1970: minute) { return minute }
            let (month, day) = CronSchedule.civil(daysSince1970: minute / 86_400)
            // Whole days and hours that can't match are skipped at once.
            if !months.contains(month) || !isMeant(day: minute / 86_400, day) {
                minute = (minute / 86_400 + 1) * 86_400
            } else if !hours.contains(minute / 3_600 % 24) {
                minute = (minute / 3_600 + 1) * 3_600
            } else {
                minute += 60
            }
        }
        return nil
    }

    private static func values(
        _ field: String, _ range: ClosedRange<Int>, _ name: String
    ) throws(CronProblem) -> Set<Int> {
        var values: Set<Int> = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
            var bounds = range
            let limits = pieces.first.map(String.init) ?? ""
            if limits != "*" {
                let ends = limits.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
                guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
                    range.contains(first), range.contains(last)
                else {
                    throw CronProblem(
                        description: "\(name) \"\(part)\" is not in \(range.lowerBound)-\(range.upperBound)")
                }
                bounds = first...(ends.count == 1 && pieces.count == 2 ? range.upperBound : last)
            }
            guard pieces.count <= 2, let step = pieces.count == 2 ? Int(pieces[1]) : 1, step > 0 else {
                throw CronProblem(description: "\(name) \"\(part)\" has no step after /; write for example */10")
            }
            values.formUnion(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
        }
        return values
    }

    /// Month and day of a day count, by Howard Hinnant's `civil_from_days`.
    private static func civil(daysSince1970 days: Int) -> (month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        return (monthIndex < 10 ? monthIndex + 3 : monthIndex - 9, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }
}

/// Why a schedule can't be used.
public struct CronProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence, with the value that is wrong.
    public var description: String
}
