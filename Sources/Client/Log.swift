import Foundation
package import Logging
import TerminalText

/// Loggers: the daemon's lines go to standard error with their time.
package enum Log {
    /// The logger of a daemon, which writes to standard error.
    package static func daemon(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler() }
        logger.logLevel = level
        return logger
    }

    /// The logger of commands, which shows warnings and errors only.
    package static var quiet: Logger {
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler() }
        logger.logLevel = .warning
        return logger
    }
}

/// `14:03:22 warning: …` on standard error.
package struct DaemonLogHandler: LogHandler {
    package var logLevel = Logger.Level.notice
    package var metadata: Logger.Metadata = [:]

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let time = Date().formatted(.iso8601.time(includingFractionalSeconds: false))
        let level = event.level >= .warning ? " \(event.level.rawValue):" : ""
        Terminal.say(Self.line(time + level, "\(event.message)"))
    }

    /// A line of the log. Messages may contain names of branches and other foreign text; control characters are made
    /// visible here, so that no caller can forget it.
    package static func line(_ start: String, _ message: String) -> String { "\(start) \(TerminalText.lines(message))" }
}
