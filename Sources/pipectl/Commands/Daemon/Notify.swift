import ArgumentParser
import Client
import Control
import Foundation
import StateFiles

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Tells the daemon to check repositories now; for a post-receive hook.",
        discussion: "In a hook: pipectl notify . >/dev/null 2>&1 || true")

    @OptionGroup var state: StateOptions
    @Argument(help: "The repository's path, URL or name. Default: all repositories.")
    var repository: String?

    func run() async throws {
        let path = try state.folder().socket
        let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path)
        // A path is relative to this command's folder, not to the daemon's.
        let isPath = repository.map { $0.hasPrefix(".") || FileManager.default.fileExists(atPath: $0) } ?? false
        let named = isPath ? repository.map { URL(fileURLWithPath: $0).standardizedFileURL.path } : repository
        try await DaemonAccess.daemon(client).ask(.look(path: named)) { reply in
            if case .completed(let action) = reply { Terminal.say(action.inWords) }
        }
    }
}
