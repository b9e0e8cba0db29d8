import ArgumentParser
import BuildBox
import Client
import Control
import Foundation
import StateFiles

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
            folder, purpose: purpose, options: DeclaredSettings.options(in: folder), log: Log.quiet)
    }

    /// One request with one answer.
    func ask<Answer>(
        _ request: DaemonRequest, _ purpose: String, _ pick: @Sendable (DaemonReply) -> Answer?
    ) async throws -> Answer where Answer: Sendable {
        let folder = try folder()
        return try await folder.ask(request, purpose, options: DeclaredSettings.options(in: folder), pick)
    }
}
