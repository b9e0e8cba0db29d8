@testable import Results
import Foundation
import Testing

@Suite struct DateTests {
    @Test func `times survive writing and reading`() {
        for _ in 0..<2_000 {
            // Years 1970 to 9999.
            let date = Date(milliseconds: Int64.random(in: 0..<253_402_300_800_000))
            #expect(Date(iso8601: date.iso8601) == date)
        }
    }

    @Test(arguments: ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "2000-03-01T00:00:00.001Z"])
    func `ISO 8601 texts survive reading and writing`(text: String) {
        #expect(Date(iso8601: text)?.iso8601 == text)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        #expect(Date(iso8601: text) == (try? style.parse(text))?.wholeMilliseconds)
    }

    @Test(arguments: [
        (1_709_251_199.999, "2024-02-29T23:59:59Z", "2024-02-29", "23:59:59"),
        (-0.001, "1969-12-31T23:59:59Z", "1969-12-31", "23:59:59"),
        (0, "1970-01-01T00:00:00Z", "1970-01-01", "00:00:00"),
    ])
    func `shorter forms lack milliseconds, the time or the day`(
        _ seconds: Double, _ whole: String, _ day: String, _ time: String
    ) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(date.iso8601Seconds == whole && date.iso8601Day == day && date.iso8601Time == time)
    }

    @Test(arguments: ["", "2024-13-01T00:00:00.000Z", "2024-01-01T00:00:0x.000Z", "2024-01-01 00:00"])
    func `a text that is not a time is refused`(text: String) {
        #expect(Date(iso8601: text) == nil)
    }
}
