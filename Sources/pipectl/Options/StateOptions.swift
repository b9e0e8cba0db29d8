import ArgumentParser
import DaemonSettings
import Client
import Control
import Foundation
import StateFiles
import Daemon
import TerminalText

/// The option for the state folder, which all commands about runs share.
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

    /// A connection to the running daemon; without one, the state opened by this process.
    func open(_ purpose: String) async throws -> DaemonAccess {
        try await access().open(purpose)
    }

    /// The state, for whoever asks more than once. Errors in the settings are thrown only if no daemon runs.
    func access() throws -> StateAccess {
        let folder = try folder()
        return StateAccess(folder) { purpose in
            try await Daemon.own(folder, purpose, options: DeclaredSettings.options(in: folder))
        }
    }

    /// Sends one request and returns its answer.
    func ask<Answer>(
        _ request: DaemonRequest, _ purpose: String, _ pick: @Sendable (DaemonReply) -> Answer?
    ) async throws -> Answer where Answer: Sendable {
        try await access().ask(request, purpose, pick)
    }

    /// Has the daemon act, and says what it did.
    func act(_ request: DaemonRequest, _ purpose: String) async throws {
        let words = try await ask(request, purpose) {
            if case .completed(let action) = $0 { action.inWords } else { nil }
        }
        Terminal.say(TerminalText.name(words, limit: 2_000))
    }
}
