import ArgumentParser
import BuildBox
import Control
import Foundation
import Logging
import StateFiles
import TerminalText

/// Where the state is; shared by all commands that look at runs.
struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The state folder. Default: $PIPECTL_HOME, else the platform's state folder.", valueName: "folder"))
    var state: String?

    func folder() throws -> StateFolder {
        var environment = ProcessInfo.processInfo.environment
        if let state { environment["PIPECTL_HOME"] = URL(fileURLWithPath: state).standardizedFileURL.path }
        return try StateFolder(environment: environment)
    }

    /// The running daemon, or the state opened here.
    func open(_ purpose: String) async throws -> DaemonAccess {
        let folder = try folder()
        return try await DaemonAccess.open(
            folder, purpose: purpose, options: BoxSettings.options(in: folder), log: Log.quiet)
    }

    /// One request with one answer.
    func ask<Answer>(
        _ request: DaemonRequest, _ purpose: String, _ pick: @Sendable (DaemonReply) -> Answer?
    ) async throws -> Answer where Answer: Sendable {
        let access = try await open(purpose)
        let box = Answers<Answer>()
        do {
            try await access.ask(request) { reply in if let answer = pick(reply) { await box.take(answer) } }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
        guard let answer = await box.answer else {
            throw CommandEnd(
                code: 3, message: "the daemon gave an unexpected answer; is it another version of pipectl?")
        }
        return answer
    }
}

private actor Answers<Answer: Sendable> {
    private(set) var answer: Answer?
    func take(_ answer: Answer) { self.answer = answer }
}

/// Loggers: the daemon's lines go to standard error with their time.
enum Log {
    static func daemon(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler() }
        logger.logLevel = level
        return logger
    }

    /// For commands: only what must not go unseen.
    static var quiet: Logger {
        var logger = Logger(label: "pipectl") { _ in DaemonLogHandler() }
        logger.logLevel = .warning
        return logger
    }
}

/// `14:03:22 warning: …` on standard error.
struct DaemonLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let time = Date().formatted(.iso8601.time(includingFractionalSeconds: false))
        let level = event.level >= .warning ? " \(event.level.rawValue):" : ""
        Terminal.say(Self.line(time + level, "\(event.message)"))
    }

    /// A line of the log. Messages hold names of branches and the like as they are: what would act on a terminal is made
    /// visible here, so that no caller can forget it.
    static func line(_ start: String, _ message: String) -> String { "\(start) \(TerminalText.lines(message))" }
}
