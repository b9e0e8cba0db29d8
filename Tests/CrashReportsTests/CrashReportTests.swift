import CrashReports
import Foundation
import Testing

struct CrashReportTests {
    @Test func aReportIsTheSameAfterCoding() throws {
        var report = CrashReport(
            format: .swiftBacktrace, reason: "Illegal instruction",
            frames: [CrashReport.Frame(image: "shop", offset: 0x1234, function: "Cart.total()", isOwn: true)],
            images: [CrashReport.Image(name: "shop", identifier: "ab12")])
        report.message = "Index out of range"
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(CrashReport.self, from: data) == report)
    }
}
