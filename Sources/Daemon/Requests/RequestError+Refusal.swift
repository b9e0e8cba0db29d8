import Watching
import Control
import CrashReports
import Results
import Store
import Archive
import Engine
import Git
import TaskService

extension RequestError {
    /// The error for the client when a request failed; nil for an unknown error.
    init?(refusing error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as TaskFailure: self = error.requestError
        case let error as CrashReportError: self.init(.usage, "the crash report can't be used: \(error.description)")
        case let error as ArchiveError:
            self.init(
                Code(rawValue: error.code.rawValue), error.description,
                origin: Self.faultsOfDaemon.contains(error.code) ? .daemon : .request)
        case let error as GitError: self.init(Code(rawValue: "git"), error.description)
        case let error as EarlyVerdict:
            self.init(
                Code(rawValue: error.verdict.rawValue), error.description,
                origin: error.verdict == .infrastructure ? .daemon : .request)
        default: return nil
        }
    }

    /// Errors of the store that do not depend on the request.
    private static let faultsOfDaemon: Set<ArchiveError.Code> = [
        .damagedIndex, .newerIndex, .missingIndex, .unusableIndex, .diskFull, .unusableArchive, .damagedRun,
        .newerReport, .digestMismatch, .unreadableFile,
    ]
}
