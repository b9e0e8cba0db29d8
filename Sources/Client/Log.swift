package import DaemonLog
package import Logging

/// Loggers, which write to standard error.
package enum Log {
    /// The logger of a daemon, which writes to standard error.
    package static func daemon(_ level: Logger.Level, _ format: LogFormat = .text) -> Logger {
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler(format) { Terminal.say($0) } }
        logger.logLevel = level
        return logger
    }

    /// The logger of commands, which shows warnings and errors only.
    package static var quiet: Logger { daemon(.warning) }
}
