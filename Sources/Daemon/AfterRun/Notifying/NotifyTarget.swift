import Preparing
import Concurrency
import Control
import SystemCalls
import Results
import Engine
import TerminalText
import Foundation
import Pipeline
import Sandbox

/// The server refuses this event, and will always refuse it.
struct NotifyRefusal: Error, CustomStringConvertible {
    let status: Int
    let description: String

    /// Whether a status is final: 408 and 429 ask for another try.
    static func isFinal(_ status: Int) -> Bool { (400..<500).contains(status) && status != 408 && status != 429 }
}

/// Delivers one event with a child process, so that pipectl depends neither on a slow receiver nor on an HTTP library.
struct NotifyTarget: Sendable {
    let options: NotifyOptions
    /// The folder in which the event is written for the child.
    let folder: String

    /// Delivers an event to these receivers; one that the options don't name gets nothing.
    ///
    /// - Throws: ``NotifyRefusal``, or ``RequestError`` with the error of the command or of curl.
    func deliver(_ body: String, to receivers: [NotifyOptions.Receiver]) async throws {
        let name = "\(folder)/notify-\(UInt64.random(in: 0 ... .max))"
        let (bodyFile, configFile) = ("\(name).json", "\(name).curl")
        try await offThread {
            try Self.write(body, to: bodyFile)
            if let url = options.url {
                try Self.write(Self.curl(url, body: bodyFile, options.deadline), to: configFile)
            }
        }
        defer { for file in [bodyFile, configFile] { try? FileManager.default.removeItem(atPath: file) } }
        if receivers.contains(.command), let command = options.command {
            try await run(
                ExternalCommand(
                    "/bin/sh", ["-c", "exec <\"$1\" && eval \"$2\"", "pipectl", bodyFile, command],
                    deadline: options.deadline, outputLimit: 4_096))
        }
        if receivers.contains(.url), options.url != nil {
            try await run(
                ExternalCommand(
                    "curl", ["--disable", "--config", configFile], deadline: options.deadline + .seconds(5),
                    outputLimit: 4_096), isHTTP: true)
        }
    }

    private func run(_ tool: ExternalCommand, isHTTP: Bool = false) async throws {
        if let failure = Self.failure(of: try await tool.run(), isHTTP: isHTTP) { throw failure }
    }

    /// Why the child's result is no delivery; nil if it is one.
    ///
    /// With HTTP only a status of 2xx is a delivery. curl treats a redirect as success. It is not followed, because the
    /// event would go to an address that nobody configured.
    static func failure(of result: ExternalCommandResult, isHTTP: Bool) -> (any Error)? {
        let status = isHTTP ? status(in: result.text) : nil
        if result.succeeded {
            if !isHTTP || status.map((200..<300).contains) == true { return nil }
            guard let status else { return RequestError(.notify, "curl ended without an HTTP status") }
            let advice =
                (300..<400).contains(status)
                ? ", a redirect, and none is followed: give --notify-url the address that it leads to" : ""
            return RequestError(.notify, "the server answers with HTTP status \(status)\(advice)")
        }
        let said = TerminalText.name(result.text.trimmingCharacters(in: .whitespacesAndNewlines), limit: 300)
        let how =
            switch result.ending {
            case .exited(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            case .deadline(let limit): "it took longer than \(limit.inWords)"
            }
        if let status, NotifyRefusal.isFinal(status) {
            return NotifyRefusal(status: status, description: "the server refused it with HTTP status \(status)")
        }
        return RequestError(.notify, "\(how)\(said.isEmpty ? "" : ": \(said)")")
    }

    /// curl's configuration is in a file: a URL may contain a token, and every user can read command lines.
    static func curl(_ url: String, body: String, _ deadline: Duration) -> String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        return """
            url = \(quoted(url))
            request = "POST"
            header = "Content-Type: application/json"
            data-binary = \(quoted("@" + body))
            max-time = \(max(Int(deadline.inSeconds), 1))
            proto = "=http,https"
            output = "/dev/null"
            fail
            silent
            show-error
            write-out = "\\n\(statusMark)%{http_code}\\n"

            """
    }

    private static let statusMark = "http-status="

    /// The HTTP status that curl wrote; nil if there is none.
    static func status(in text: String) -> Int? {
        text.split(separator: "\n").last { $0.hasPrefix(statusMark) }.flatMap { Int($0.dropFirst(statusMark.count)) }
    }

    /// Only this user can read it.
    private static func write(_ text: String, to path: String) throws {
        let made = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        if !made { throw SystemFailure("create \(path)") }
    }
}
