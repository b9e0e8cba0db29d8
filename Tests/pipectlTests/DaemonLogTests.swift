import Client
import Testing

@testable import pipectl

/// Lines of the daemon's log.
@Suite struct DaemonLogTests {
    @Test func `a line shows what would act on a terminal`() {
        let line = DaemonLogHandler.line("12:00:00 warning:", "change agent/\u{9b}31m\u{202e}x\n12:00:01 forged")
        #expect(line == "12:00:00 warning: change agent/<U+009B>31m<U+202E>x\n  12:00:01 forged")
    }
}
