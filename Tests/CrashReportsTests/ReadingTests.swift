import CrashReports
import Foundation
import Testing

struct ReadingTests {
    private func read(_ text: String) throws -> CrashReport { try CrashReport.read(Array(text.utf8)) }

    @Test(
        arguments: [
            (Samples.ips(), CrashReport.Format.appleJSON, "EXC_BREAKPOINT (SIGTRAP)"),
            (Samples.crash, .appleText, "EXC_BREAKPOINT (SIGTRAP)"),
            (Samples.backtrace, .swiftBacktrace, "Illegal instruction"),
            (Samples.friendly, .swiftBacktrace, "Illegal instruction"),
            (Samples.swiftJSON, .swiftBacktrace, "Illegal instruction"),
            (Samples.legacy, .swiftBacktrace, "Fatal error"),
            (Samples.package, .swiftBacktrace, "Illegal instruction"),
        ])
    func theSameCrashIsReadFromEachFormat(_ text: String, _ format: CrashReport.Format, _ reason: String) throws {
        let report = try read(text)
        #expect(report.format == format)
        #expect(report.reason == reason)
        let own = report.frames.filter(\.isOwn)
        let top = try #require(report.top)
        #expect(top.function?.contains("Cart.total(at:") == true)
        #expect(own.dropFirst().first?.function?.contains("Checkout.pay()") == true)
        #expect(report.frames.allSatisfy { $0.function?.hasPrefix("_assertionFailure") != true || !$0.isOwn })
        if format != .swiftBacktrace || text != Samples.legacy {
            #expect(top.file?.hasSuffix("Cart.swift") == true)
            #expect(top.line == 42)
        }
    }

    @Test(arguments: [Samples.ips(), Samples.crash])
    func headersOfApple(_ text: String) throws {
        let report = try read(text)
        #expect(report.program == "Shop")
        #expect(report.bundle == "com.example.shop")
        #expect(report.version == "1.4.2")
        #expect(report.build == "317")
        #expect(report.system == "iPhone OS 18.1 (22B83)")
        #expect(report.architecture == "arm64")
        #expect(report.message == "Shop/Cart.swift:42: Fatal error: Index out of range")
        #expect(report.at == Date(timeIntervalSince1970: 1_795_703_317))
        let image = try #require(report.images.first { $0.name == "Shop" })
        #expect(image.identifier == "82d13d98219e3040b62a07a297007a7c")
        // A return address belongs to the instruction after the call.
        #expect(report.top?.offset == 25899)
    }

    @Test func theOldFormWithAHeaderOfJSON() throws {
        let header = #"{"app_name":"Shop","bug_type":"109","os_version":"iPhone OS 14.0"}"#
        let report = try read(header + "\n" + Samples.crash)
        #expect(report.format == .appleText)
        #expect(report.version == "1.4.2")
    }

    @Test func oneDocumentWithoutAHeaderIsEnough() throws {
        let lines = Samples.ips().split(separator: "\n", maxSplits: 1)
        let report = try read(String(lines[1]))
        #expect(report.bundle == "com.example.shop")
        #expect(report.top?.function == "Cart.total(at:)")
    }

    @Test func textAfterTheDocumentIsNoMatter() throws {
        #expect(try read(Samples.ips() + "\n\nUSB Device: Hub {").top?.line == 42)
    }

    @Test func versionsOfOlderSystems() throws {
        let old = Samples.crash.replacing("1.4.2 (317)", with: "317 (1.4.2)")
        let report = try read(old)
        #expect(report.version == "1.4.2")
        #expect(report.build == "317")
        let unknown = try read(Samples.crash.replacing("1.4.2 (317)", with: "??? (???)"))
        #expect(unknown.version == nil)
        #expect(unknown.build == nil)
    }

    /// The thread ends in `abort`, which says nothing.
    @Test func anExceptionsOwnBacktraceCounts() throws {
        let text = Samples.crash.replacing(
            "Thread 0:",
            with: """
                Last Exception Backtrace:
                0   CoreFoundation                \t0x1883aa59c __exceptionPreprocess + 132
                1   Shop                          \t0x102236800 -[ShelfController shelfAt:] + 8 (ShelfController.m:7)

                Thread 0:
                """)
        let report = try read(text)
        #expect(report.top?.function == "-[ShelfController shelfAt:]")
        #expect(report.top?.line == 7)
        let addresses = Samples.crash.replacing(
            "Thread 0:", with: "Last Exception Backtrace:\n(0x18a98520c 0x1022364bc 0x10223652c)\n\nThread 0:")
        #expect(try read(addresses).frames.map(\.isOwn) == [false, true, true])
    }

    @Test func imagesWithSpacesAndNamesOfBundles() throws {
        let text = """
            Process:               Desk Shop [77]
            Path:                  /Applications/Desk Shop.app/Contents/MacOS/Desk Shop
            Identifier:            com.example.desk-shop
            Exception Type:        EXC_BAD_ACCESS (SIGSEGV)
            Exception Codes:       KERN_INVALID_ADDRESS at 0x0
            Crashed Thread:        0

            Thread 0 Crashed:: Dispatch queue: com.apple.main-thread
            0   com.apple.AppKit  0x00007fff278ba6dd -[NSApplication(NSResponder) sendAction:to:from:] + 283
            1   com.example.desk-shop  0x0000000100001234 0x100000000 + 4660
            2   Desk Shop Tools  0x0000000100101234 desk::open(char const*) + 4

            Binary Images:
                   0x100000000 -        0x100005fff +com.example.desk-shop (1.0 - 1) <AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE> /Applications/Desk Shop.app/Contents/MacOS/Desk Shop
                   0x100100000 -        0x100105fff +Desk Shop Tools (0) <BBBBBBBB-BBBB-CCCC-DDDD-EEEEEEEEEEEE> /Applications/Desk Shop.app/Contents/Frameworks/Desk Shop Tools
                0x7fff27890000 -     0x7fff28890000  com.apple.AppKit (6.9 - 1) <CCCCCCCC-BBBB-CCCC-DDDD-EEEEEEEEEEEE> /System/Library/Frameworks/AppKit.framework/AppKit
            """
        let report = try read(text)
        #expect(report.frames.map(\.image) == ["AppKit", "Desk Shop", "Desk Shop Tools"])
        #expect(report.frames.map(\.isOwn) == [false, true, true])
        #expect(report.frames[1].offset == 0x1233)
        #expect(report.message == nil || report.message?.isEmpty == false)
    }

    @Test func onlyALineOfAFatalError() throws {
        let now = try read("building\nShop/Cart.swift:42: Fatal error: no goods\n")
        #expect(now.top?.file == "Shop/Cart.swift")
        #expect(now.top?.line == 42)
        #expect(now.message == "no goods")
        let older = try read("Fatal error: no goods: file /src/Shop/Cart.swift, line 42\nTrace/BPT trap\n")
        #expect(older.top?.file == "/src/Shop/Cart.swift")
        #expect(older.message == "no goods")
        let inLibrary = try read("Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range\n")
        #expect(inLibrary.top == nil)
    }

    @Test func whatALogPutsBeforeEachLine() throws {
        func prefixed(_ text: String, _ prefix: String) -> String {
            text.split(separator: "\n", omittingEmptySubsequences: false).map { prefix + $0 }.joined(separator: "\n")
        }
        let swift = try read(prefixed(Samples.backtrace, "2026-11-26T15:03:07Z shop-1 | "))
        #expect(swift.top?.line == 42)
        let sanitizer = try read(prefixed(Samples.address, "[err] "))
        #expect(sanitizer.top?.line == 12)
        #expect(try read(prefixed(Samples.crash, "    ")).top?.line == 42)
    }

    @Test func addressSanitizer() throws {
        let report = try read(Samples.address)
        #expect(report.format == .sanitizer)
        #expect(report.reason == "heap-use-after-free")
        #expect(report.message == "READ of size 4")
        #expect(report.frames.count == 5)
        #expect(report.frames.map(\.isOwn) == [false, true, true, true, false])
        #expect(report.frames[1].function == "cart::total(int, char const*) const")
        #expect(report.frames[1].column == 5)
        #expect(report.frames[2].function == "operator/(cart const&, int)")
        #expect(report.frames[2].file == "/home/dev/shop/src/my cart.cc")
        #expect(report.frames[3].file == "src/main.cc")
        #expect(report.frames[0].offset == 0x4a1b2c)
    }

    @Test func otherSanitizers() throws {
        let race = try read(Samples.thread)
        #expect(race.reason == "data race")
        #expect(race.frames.map(\.function) == ["Cart.total.setter", "thread_main"])
        #expect(race.top?.line == 5)
        #expect(race.images.first?.identifier == "00112233445566778899")
        let overflow = try read(Samples.undefined)
        #expect(overflow.reason == "undefined-behavior")
        #expect(overflow.top?.file == "/home/dev/shop/src/cart.c")
        #expect(overflow.top?.line == 14)
    }

    @Test func codeOfPackagesCountsWhereNothingElseIs() throws {
        let text = Samples.backtrace.replacing(
            "/home/dev/shop/Sources/Shop/Cart.swift", with: "/w/.build/checkouts/cart/Cart.swift")
        #expect(try read(text).top?.line == 9)
        let all = text.replacing(
            "/home/dev/shop/Sources/Shop/Checkout.swift", with: "/w/.build/checkouts/cart/Pay.swift")
        #expect(try read(all).top?.line == 42)
    }

    @Test func aReportIsTheSameAfterCoding() throws {
        let report = try read(Samples.ips())
        #expect(try JSONDecoder().decode(CrashReport.self, from: JSONEncoder().encode(report)) == report)
    }
}
