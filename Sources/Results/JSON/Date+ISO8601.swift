package import Foundation

extension Date {
    /// Milliseconds since 1970, rounded to the nearest: the archive's resolution.
    ///
    /// Dates beyond ±200,000 years are broken input, and some of them would overflow an `Int64`. They become the
    /// nearest date in that range.
    package var milliseconds: Int64 {
        let seconds = min(max(timeIntervalSince1970, -6e12), 6e12)
        return seconds.isNaN ? 0 : Int64((seconds * 1000).rounded())
    }

    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The date, rounded to the archive's resolution.
    package var wholeMilliseconds: Date { Date(milliseconds: milliseconds) }

    /// `2026-08-01T12:00:00.000Z`, computed with whole numbers. Foundation's format style truncates: it prints .122
    /// where the `Double` is slightly less than .123.
    package var iso8601: String {
        let ((year, month, day), inDay) = civilDay
        let second = inDay / 1000
        let fields: [(Int64, Int, Character)] = [
            (year, 4, "-"), (month, 2, "-"), (day, 2, "T"), (second / 3600, 2, ":"), (second / 60 % 60, 2, ":"),
            (second % 60, 2, "."), (inDay % 1000, 3, "Z"),
        ]
        var text: [UInt8] = []
        text.reserveCapacity(24)
        for (number, width, end) in fields {
            let digits = String(number).utf8
            for _ in 0..<max(0, width - digits.count) { text.append(UInt8(ascii: "0")) }
            text.append(contentsOf: digits)
            text.append(end.asciiValue ?? 0)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `2026-08-01T12:00:00Z`: the same in whole seconds.
    package var iso8601Seconds: String { "\(iso8601.dropLast(5))Z" }

    /// `2026-08-01`: the day in UTC.
    package var iso8601Day: String { String(iso8601.prefix { $0 != "T" }) }

    /// `12:00:00`: the time of the day in UTC.
    package var iso8601Time: String { String(iso8601.dropLast(5).suffix(8)) }

    /// The day in UTC, in the proleptic Gregorian calendar, and the milliseconds since its start.
    var civilDay: (day: (year: Int64, month: Int64, day: Int64), milliseconds: Int64) {
        let total = milliseconds
        return (
            Self.civil(daysSince1970: total.flooredQuotient(86_400_000)), total.flooredRemainder(86_400_000)
        )
    }

    /// Nil if the text has another form.
    package init?(iso8601 text: String) {
        if let date = Date(exactly: text) {
            self = date
            return
        }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        guard let date = try? style.parse(text) else { return nil }
        self = date.wholeMilliseconds
    }

    /// Reads what ``iso8601`` writes, with whole numbers: reports contain many times, and Foundation's format style is
    /// slow. Nil for every other form, and for days and hours that don't exist.
    private init?(exactly text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 24 else { return nil }
        for (place, sign) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z")] {
            guard bytes[place] == sign.utf8.first else { return nil }
        }
        var numbers: [Int64] = []
        for field in [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19, 20..<23] {
            var number: Int64 = 0
            for byte in bytes[field] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                number = number * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            numbers.append(number)
        }
        guard (1...12).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 24, numbers[4] < 60,
            numbers[5] < 60
        else { return nil }
        let days = Self.days(year: numbers[0], month: numbers[1], day: numbers[2])
        // Day 31 of a shorter month would give a day of the next month.
        guard Self.civil(daysSince1970: days) == (numbers[0], numbers[1], numbers[2]) else { return nil }
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(milliseconds: seconds * 1000 + numbers[6])
    }

    /// Howard Hinnant's `days_from_civil`.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Howard Hinnant's `civil_from_days`. It counts years from March, so that the leap day comes last.
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted.flooredRemainder(146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 { (self - flooredRemainder(divisor)) / divisor }
    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 { ((self % divisor) + divisor) % divisor }
}

extension JSONEncoder.DateEncodingStrategy {
    /// `2026-08-01T12:00:00.000Z`: the form of reports and of the archive.
    package static var iso8601Milliseconds: Self { text { $0.iso8601 } }

    /// `2026-08-01T12:00:00Z`: the form of what commands print and what is sent to others.
    package static var iso8601Seconds: Self { text { $0.iso8601Seconds } }

    private static func text(_ form: @escaping @Sendable (Date) -> String) -> Self {
        .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(form(date))
        }
    }
}

extension JSONDecoder.DateDecodingStrategy {
    /// ISO 8601, with milliseconds or without.
    package static var iso8601Milliseconds: Self {
        .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = Date(iso8601: text) { return date }
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not a time; write it like 2026-08-01T12:00:00.000Z.")
        }
    }
}
