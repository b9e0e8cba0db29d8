import Foundation
import Testing

@testable import Settings

@Suite struct QuantityTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("90s", .seconds(90)), ("15m", .seconds(900)), ("24h", .seconds(86_400)),
        ("2d", .seconds(172_800)), ("1w", .seconds(604_800)), ("1.5h", .seconds(5_400)), ("0", .zero), ("0h", .zero),
        ("0.0001h", .milliseconds(360)),
    ])
    func `a duration is a number and its unit`(text: String, duration: Duration) throws {
        #expect(try DurationText.read(text) == duration)
    }

    @Test func `a time in the past is so long ago, or a date`() throws {
        for (text, seconds) in [("30m", 1_800.0), ("2d", 172_800)] {
            let ago = try #require(PastTime.read(text)).timeIntervalSinceNow
            #expect((-seconds - 60...(-seconds)).contains(ago), "\(text)")
        }
        #expect(PastTime.read("2026-01-31")?.timeIntervalSince1970 == 1_769_817_600)
        #expect(PastTime.read("2026-01-31T01:00:00Z")?.timeIntervalSince1970 == 1_769_821_200)
        for text in ["", "2", "2x", "-2d", "yesterday", "2026-13-01", "2026-01-31x"] {
            #expect(PastTime.read(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("500B", 500), ("64KiB", 64 << 10), ("16MiB", 16 << 20), ("10GiB", 10 << 30), ("2TiB", 2 << 40),
        ("0.5GiB", 512 << 20), ("0", 0), ("0MiB", 0),
    ])
    func `a size is a number and its unit`(text: String, bytes: Int) throws {
        #expect(try SizeText.read(text) == bytes)
    }

    @Test(arguments: [
        ("", QuantityProblem.Code.notANumber), ("h", .notANumber), ("-1h", .notANumber), ("+1h", .notANumber),
        (".5h", .notANumber), ("5.h", .notANumber), ("1.2.3h", .notANumber), ("nan", .notANumber), ("٣h", .notANumber),
        ("10", .noUnit), ("1e3s", .unknownUnit), ("10 s", .unknownUnit), ("10S", .unknownUnit), ("10min", .unknownUnit),
        ("10GiB", .unknownUnit), ("0x10s", .unknownUnit), ("99999999999999w", .tooLarge),
        ("9999999999999999s", .tooLarge), ("400000d", .tooLarge),
    ])
    func `what is not a duration is refused with the reason`(text: String, code: QuantityProblem.Code) {
        #expect { try DurationText.read(text) } throws: { ($0 as? QuantityProblem)?.code == code }
    }

    @Test(arguments: [
        ("", QuantityProblem.Code.notANumber), ("GiB", .notANumber), ("-1GiB", .notANumber), ("10", .noUnit),
        ("10GB", .unknownUnit), ("10gib", .unknownUnit), ("10 GiB", .unknownUnit), ("10h", .unknownUnit),
        ("9999TiB", .tooLarge), ("18446744073709551616B", .tooLarge),
    ])
    func `what is not a size is refused with the reason`(text: String, code: QuantityProblem.Code) {
        #expect { try SizeText.read(text) } throws: { ($0 as? QuantityProblem)?.code == code }
    }

    @Test func `a number without a unit has the one that its flag has always had`() throws {
        #expect(try DurationText.read("10", bare: .seconds) == .seconds(10))
        #expect(try DurationText.read("24", bare: .hours) == .seconds(86_400))
        #expect(try DurationText.read("10ms", bare: .seconds) == .milliseconds(10))
        #expect(try SizeText.read("1024", bare: .mebibytes) == 1 << 30)
        #expect(try SizeText.read("1KiB", bare: .mebibytes) == 1_024)
    }

    @Test(arguments: ["0s", "1ms", "1500ms", "90s", "15m", "24h", "36h", "2d", "100d"])
    func `a duration is written as it is read`(text: String) throws {
        #expect(DurationText.text(try DurationText.read(text)) == text)
    }

    @Test(arguments: ["0B", "1B", "1500B", "64KiB", "1GiB", "1536MiB", "2TiB"])
    func `a size is written as it is read`(text: String) throws {
        #expect(SizeText.text(try SizeText.read(text)) == text)
    }
}
