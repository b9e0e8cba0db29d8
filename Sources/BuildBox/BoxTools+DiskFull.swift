import Engine
import StateFiles
import Store

extension BoxTools {
    /// Whether an error says that the disk is full, or the user's share of it. Errors are told apart by their codes.
    static func isDiskFull(_ error: any Error) -> Bool {
        switch error {
        case let error as ArchiveError where error.code == .diskFull: true
        case let error as ArchiveError: error.cause.map(isDiskFull) ?? false
        case let error as ProgramCacheError: error.code == .diskFull
        default: DiskSpace.isExhausted(error)
        }
    }
}
