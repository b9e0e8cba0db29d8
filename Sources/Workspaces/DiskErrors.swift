import SystemCalls
import WorkflowPrograms
import Engine
import Git
import StateFiles
import Store

/// What errors of the rooms below have in common.
package enum DiskErrors {
    /// Whether an error says that the disk is full, or the user's share of it. Errors are told apart by their codes.
    package static func isFull(_ error: any Error) -> Bool {
        switch error {
        case let error as ArchiveError where error.code == .diskFull: true
        case let error as ArchiveError: error.cause.map(isFull) ?? false
        case let error as ProgramCacheError: error.code == .diskFull
        case let error as GitError: error.systemError.map(DiskSpace.isExhausted) ?? false
        case let error as any HasSystemError: error.systemError.map(DiskSpace.isExhausted) ?? false
        default: DiskSpace.isExhausted(error)
        }
    }
}
