@testable import Layers
import Workspaces
import Engine
import Foundation
import Git
import Results
import Store
import SystemCalls
import SystemPackage
import Testing

@testable import Workspaces

/// A full disk is recognised by codes, never by texts.
struct DiskFullTests {
    static let full: [any Error & Sendable] = [
        ArchiveError(.diskFull, ""),
        ArchiveError(.unusableArchive, "", cause: GitError(call: "", code: .failed, message: "", systemError: ENOSPC)),
        GitError(call: "", code: .failed, message: "", systemError: EDQUOT),
        SystemFailure("write", ENOSPC), CheckoutProblem("", systemError: ENOSPC), Errno.noSpace,
        CocoaError(.fileWriteOutOfSpace), POSIXError(.ENOSPC),
    ]

    static let other: [any Error & Sendable] = [
        ArchiveError(.unusableIndex, "No space left on device: the disk is full"),
        ArchiveError(
            .unusableArchive, "", cause: GitError(call: "", code: .failed, message: "No space left on device")),
        GitError(call: "", code: .failed, message: "Disk quota exceeded", systemError: EIO),
        SystemFailure("write", EIO),
        CheckoutProblem("No space left on device"), Errno.ioError, CocoaError(.fileWriteNoPermission),
        POSIXError(.EIO), CancellationError(),
    ]

    @Test(arguments: full.indices) func `a full disk is told by its code`(index: Int) {
        #expect(DiskErrors.isFull(Self.full[index]), "\(Self.full[index])")
    }

    @Test(arguments: other.indices) func `words alone are no full disk`(index: Int) {
        #expect(!DiskErrors.isFull(Self.other[index]), "\(Self.other[index])")
    }

    @Test func `a child that found the disk full says so by its exit code`() {
        let full = CheckoutProcess.exitCode(for: GitError(call: "", code: .failed, message: "", systemError: ENOSPC))
        #expect(full == 28)
        #expect(CheckoutProcess.exitCode(for: GitError(call: "", code: .failed, message: "")) == 1)
    }
}
