import Foundation
import Pipeline
import Testing

@Suite struct CronScheduleTests {
    /// Seconds since 1970 of a UTC date.
    private func time(_ text: String) throws -> Int {
        Int(try Date("\(text):00Z", strategy: .iso8601).timeIntervalSince1970)
    }

    @Test(arguments: [
        ("0 3 * * *", "2026-11-21T02:59", "2026-11-21T03:00"),
        ("0 3 * * *", "2026-11-21T03:00", "2026-11-22T03:00"),
        ("*/15 * * * *", "2026-11-21T23:46", "2026-11-22T00:00"),
        ("5/20 * * * *", "2026-11-21T10:05", "2026-11-21T10:25"),
        ("30 6 * * 1-5", "2026-11-20T07:00", "2026-11-23T06:30"),  // Friday, then Monday
        ("0 0 * * 0", "2026-11-21T00:00", "2026-11-22T00:00"),
        ("0 0 * * 7", "2026-11-21T00:00", "2026-11-22T00:00"),
        ("0 0 1 1 *", "2026-01-01T00:00", "2027-01-01T00:00"),
        ("59 23 31 12 *", "2026-12-31T23:58", "2026-12-31T23:59"),
        ("0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T00:00"),  // 2100 is no leap year
        ("0 0 31 * *", "2026-04-01T00:00", "2026-05-31T00:00"),
        ("0 12 13 * 5", "2026-11-14T00:00", "2026-11-20T12:00"),  // both limited: a Friday is enough
        ("0 12 13 * 5", "2026-12-12T00:00", "2026-12-13T12:00"),  // … and a 13th, though a Sunday
        ("0 0 */2 * 1", "2026-11-21T00:00", "2026-11-23T00:00"),  // a star does not limit: a Monday on an odd day
        ("0 0 */2 * 1", "2026-11-23T00:00", "2026-12-07T00:00"),  // 30 November is a Monday, but even
        ("1,2,50-52 4 * * *", "2026-11-21T04:02", "2026-11-21T04:50"),
        ("0\t0  *  * * ", "2026-11-21T00:00", "2026-11-22T00:00"),
    ])
    func `a schedule's next time is right`(cron: String, after: String, expected: String) throws {
        let schedule = try CronSchedule(cron)
        let next = try #require(schedule.next(after: try time(after)))
        #expect(next == (try time(expected)))
        #expect(schedule.matches(secondsSince1970: next))
        #expect(schedule.matches(secondsSince1970: next + 59))
    }

    /// Skipping hours and days must not miss a match: each minute of a year is compared.
    @Test(arguments: ["17 */7 */3 * 2", "0 0 1,15 * 3", "*/29 5-6 * 2,11 *"])
    func `the next times of a schedule are all its matches`(cron: String) throws {
        let schedule = try CronSchedule(cron)
        var minute = try time("2027-12-15T00:00")
        let end = try time("2028-03-05T00:00")
        var expected = schedule.next(after: minute)
        while minute < end {
            minute += 60
            guard schedule.matches(secondsSince1970: minute) else { continue }
            #expect(minute == expected)
            expected = schedule.next(after: minute)
        }
    }

    @Test func `a date that never comes has no next time`() throws {
        #expect(try CronSchedule("0 0 30 2 *").next(after: 0) == nil)
        #expect(try CronSchedule("* * 31 4 *").next(after: 0) == nil)
    }

    @Test(arguments: [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *",
        "* * * * 8", "a * * * *", "5-1 * * * *", "1-2-3 * * * *", "*/0 * * * *", "*/ * * * *", "*/x * * * *",
        "1/2/3 * * * *",
        ", * * * *", "1, * * * *", "-1 * * * *", "* * * JAN *", "99999999999999999999 * * * *",
    ])
    func `an invalid schedule is refused with a reason`(cron: String) {
        let problem = #expect(throws: CronProblem.self) { try CronSchedule(cron) }
        #expect(problem?.description.isEmpty == false)
    }
}
