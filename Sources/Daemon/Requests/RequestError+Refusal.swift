import Watching
import Control
import Results
import Store
import Archive
import Engine
import Git

extension RequestError {
    /// What a client is told about an error that ended its request; nil for one that this process does not know.
    init?(refusing error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as ArchiveError:
            self.init(
                Code(rawValue: error.code.rawValue), error.description,
                origin: Self.faultsOfBox.contains(error.code) ? .daemon : .request)
        case let error as GitError: self.init(Code(rawValue: "git"), error.description)
        case let error as EarlyVerdict:
            self.init(
                Code(rawValue: error.verdict.rawValue), error.description,
                origin: error.verdict == .infrastructure ? .daemon : .request)
        default: return nil
        }
    }

    /// Errors of the store that no other request would avoid.
    private static let faultsOfBox: Set<ArchiveError.Code> = [
        .damagedIndex, .newerIndex, .missingIndex, .unusableIndex, .diskFull, .unusableArchive, .damagedRun,
        .newerReport, .digestMismatch, .unreadableFile,
    ]
}
