import Foundation
import Testing

import Settings

@Suite struct PastTimeTests {
    @Test(arguments: [
        ("2026-01-31", 1_769_817_600.0), ("2026-01-31T10:30:00Z", 1_769_855_400),
        ("2026-01-31T10:30:00.500Z", 1_769_855_400.5),
    ])
    func `a date is a day's start or an exact time`(_ text: String, _ seconds: Double) {
        #expect(PastTime.read(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: ["", "yesterday", "2026-13-01", "2026-01-31T", "31.01.2026"])
    func `another text is no time`(_ text: String) { #expect(PastTime.read(text) == nil) }
}
