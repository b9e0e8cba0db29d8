import Control
import Results
import Store

extension RequestError {
    /// The same sentence for everybody who asks for a run that is not there.
    static func unknownRun(_ id: RunID) -> RequestError {
        RequestError(.unknownRun, ArchiveError.unknownRun(id).description)
    }
}
