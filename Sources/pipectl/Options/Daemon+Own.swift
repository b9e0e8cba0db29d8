import Client
import Daemon
import Preparing
import StateFiles

/// Commands open a daemon of their own if none runs.
extension Daemon: OwnDaemon {
    package func serve() async throws { try await serve(whenReady: {}) }

    /// A daemon in this process, which owns the state until it is closed. It logs warnings and errors only.
    static func own(_ state: StateFolder, _ purpose: String, options: DaemonOptions) async throws -> any OwnDaemon {
        try await Daemon(state: state, purpose: purpose, options: options, log: Log.quiet)
    }
}
