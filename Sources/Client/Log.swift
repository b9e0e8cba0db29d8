import DaemonLog
package import Logging

/// Loggers, which write to standard error.
package enum Log {
    /// The logger of a daemon, which writes to standard error.
    ///
    /// - Parameter format: The name of a ``LogFormat``; text if it is none.
    package static func daemon(_ level: Logger.Level, _ format: String? = nil) -> Logger {
        let format = format.flatMap(LogFormat.init) ?? .text
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler(format) { Terminal.say($0) } }
        logger.logLevel = level
        return logger
    }

    /// The logger of commands, which shows warnings and errors only.
    package static var quiet: Logger { daemon(.warning) }
}
