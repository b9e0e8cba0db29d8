import Control
import Reports
package import Results

/// The bounded document about one run that an agent can act on, from the daemon or, without one, from the state.
package struct BundleSource {
    let access: StateAccess
    let run: RunID

    package init(_ access: StateAccess, run: RunID) { (self.access, self.run) = (access, run) }

    /// - Parameter bytes: Maximum size of the text in bytes; at least ``BundleDraft/minimumBytes`` are used.
    package func text(_ format: BundleFormat, bytes: Int) async throws -> String {
        try await access.ask(.bundle(BundleRequest(run: run, bytes: bytes, format: format)), "bundle") {
            if case .bundle(let text) = $0 { text } else { nil }
        }
    }
}
