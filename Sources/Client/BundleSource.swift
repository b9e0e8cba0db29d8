import Control
import Reports
package import Results
package import StateFiles
import Preparing

/// The bounded document about one run that an agent can act on, from the daemon or, without one, from the state.
package struct BundleSource {
    let state: StateFolder
    let run: RunID

    package init(state: StateFolder, run: RunID) { (self.state, self.run) = (state, run) }

    /// - Parameter bytes: Maximum size of the text in bytes; at least ``BundleDraft/minimumBytes`` are used.
    package func text(_ format: BundleFormat, bytes: Int) async throws -> String {
        try await state.ask(
            .bundle(BundleRequest(run: run, bytes: bytes, format: format)), "bundle", options: DaemonOptions()
        ) {
            if case .bundle(let text) = $0 { text } else { nil }
        }
    }
}
