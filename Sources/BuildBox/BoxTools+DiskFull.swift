import Engine
import Git
import StateFiles
import Store

/// An error of this module that may come from the system.
protocol HasSystemError: Error {
    /// `errno`, if it does.
    var systemError: Int32? { get }
}

extension BoxTools {
    /// Whether an error says that the disk is full, or the user's share of it. Errors are told apart by their codes.
    static func isDiskFull(_ error: any Error) -> Bool {
        switch error {
        case let error as ArchiveError where error.code == .diskFull: true
        case let error as ArchiveError: error.cause.map(isDiskFull) ?? false
        case let error as ProgramCacheError: error.code == .diskFull
        case let error as GitError: error.systemError.map(DiskSpace.isExhausted) ?? false
        case let error as any HasSystemError: error.systemError.map(DiskSpace.isExhausted) ?? false
        default: DiskSpace.isExhausted(error)
        }
    }
}
