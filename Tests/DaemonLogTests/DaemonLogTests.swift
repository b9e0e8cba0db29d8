import DaemonLog
import Foundation
import Logging
import Synchronization
import Testing

/// Lines of the daemon's log, as text and as JSON.
@Suite struct DaemonLogTests {
    private static let time = Date(timeIntervalSince1970: 1_790_000_000.123)

    /// What a logger of this format writes.
    private static func lines(_ format: LogFormat, _ level: Logger.Level = .info, _ body: (Logger) -> Void) -> [String]
    {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in DaemonLogHandler(format) { lines.add($0) } }
        logger.logLevel = level
        body(logger)
        return lines.all
    }

    private static func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func `a line of text shows what would act on a terminal`() {
        let line = DaemonLogHandler.line(Self.time, .warning, "change agent/\u{9b}31m\u{202e}x\n12:00:01 forged")
        #expect(line.hasSuffix(" warning: change agent/<U+009B>31m<U+202E>x\n  12:00:01 forged"))
    }

    @Test func `a line of JSON has the facts of its event, and numbers are numbers`() throws {
        let line = DaemonLogHandler.object(
            Self.time, .info, "web: run 7 ended",
            .code(.runEnded, run: 7, repository: "web", ["verdict": "failed"]))
        let object = try Self.object(line)
        #expect(object["run"] as? Int == 7)
        #expect(
            object.compactMapValues { $0 as? String } == [
                "event": "run-ended", "level": "info", "message": "web: run 7 ended", "repository": "web",
                "time": "2026-09-21T14:13:20.123Z", "verdict": "failed",
            ])
        #expect(object.count == 7)
    }

    @Test func `facts that are not known are left out`() throws {
        let object = try Self.object(DaemonLogHandler.object(Self.time, .notice, "x", .code(.watching)))
        #expect(Set(object.keys) == ["event", "level", "message", "time"])
    }

    @Test func `a line of a library has the event other`() throws {
        let object = try Self.object(DaemonLogHandler.object(Self.time, .error, "x", ["peer": "127.0.0.1"]))
        #expect(object["event"] as? String == "other")
        #expect(object["peer"] as? String == "127.0.0.1")
    }

    /// Names of branches and texts of errors come from changes.
    @Test(arguments: [
        "a\nb", "a\r\n{\"event\":\"forged\"}", "\u{1b}[2J", "\u{9b}31m", "\u{202e}x", "\u{2028}", "\u{0}", "\"\\",
        "\u{85}",
        "\u{E0001}", "👩‍🔬 ä\u{301}", "",
    ])
    func `foreign text stays in its field, on one line, and can be read back`(_ text: String) throws {
        let line = DaemonLogHandler.object(
            Self.time, .info, text, .code(.runQueued, repository: text, ["step": text]))
        #expect(
            !line.unicodeScalars.contains { scalar in
                [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
            })
        let object = try Self.object(line)
        for name in ["message", "repository", "step"] { #expect(object[name] as? String == text) }
        #expect(object["event"] as? String == "run-queued")
    }

    @Test func `a fact can't take the name of what every line has`() throws {
        let object = try Self.object(
            DaemonLogHandler.object(
                Self.time, .info, "true", .code(.watching, ["message": "false", "level": "false", "time": "false"])))
        #expect(object["message"] as? String == "true")
        #expect(object["level"] as? String == "info")
        #expect((object["time"] as? String)?.hasPrefix("2026-") == true)
    }

    @Test func `both formats obey the level, and what a logger always has is in each line`() throws {
        for format in LogFormat.allCases {
            let lines = Self.lines(format) { logger in
                logger.debug("hidden", metadata: .code(.standbyFailed))
                logger.info("shown", metadata: .code(.sandboxFound))
            }
            #expect(lines.count == 1)
        }
        let lines = Self.lines(.json) { logger in
            var logger = logger
            logger[metadataKey: "repository"] = "web"
            logger.info("one", metadata: .code(.baseline))
            logger.info("two", metadata: .code(.baseline, repository: "other"))
        }
        #expect(try lines.map { try Self.object($0)["repository"] as? String } == ["web", "other"])
    }

    @Test func `the page about the log has every code, and no other`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: folder.appending(path: "docs/log.md"), encoding: .utf8)
        let listed = page.split(separator: "## Events\n")[1].matches(of: /\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(listed == LogCode.allCases.map(\.rawValue))
    }
}
