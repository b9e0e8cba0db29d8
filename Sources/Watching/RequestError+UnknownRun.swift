package import Control
package import Results
import Store

extension RequestError {
    /// The same sentence for everybody who asks for a run that is not there.
    package static func unknownRun(_ id: RunID) -> RequestError {
        RequestError(.unknownRun, ArchiveError.unknownRun(id).description)
    }
}
