package import Control
package import Results
import Store

extension RequestError {
    /// The common error for a run that does not exist.
    package static func unknownRun(_ id: RunID) -> RequestError {
        RequestError(.unknownRun, ArchiveError.unknownRun(id).description)
    }
}
