import Foundation

/// Times in reports: `2022-09-18 15:28:37.3451 +0900`, `2026-11-26T15:03:07.805391Z`.
enum CrashDate {
    static func parse(_ text: String) -> Date? {
        var line = LineScanner(text.prefix(60))
        line.skipSpaces()
        guard let year = line.number(), (1970...2199).contains(year), line.take("-"),
            let month = line.number(), (1...12).contains(month), line.take("-"),
            let day = line.number(), (1...31).contains(day), line.take(" ") || line.take("T"),
            let hour = line.number(), (0...23).contains(hour), line.take(":"),
            let minute = line.number(), (0...59).contains(minute), line.take(":"),
            let second = line.number(), (0...60).contains(second)
        else { return nil }
        if line.take(".") { _ = line.longNumber() }
        line.skipSpaces()
        var offset = 0
        let isWest = line.take("-")
        if isWest || line.take("+"), let zone = line.number(), zone <= 1400 {
            offset = (zone / 100 * 60 + zone % 100) * (isWest ? -60 : 60)
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Days since 1970 in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // The year begins with March, so that a leap day is its last.
        let shifted = month > 2 ? year : year - 1
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }
}
