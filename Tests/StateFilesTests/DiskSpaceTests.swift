import TestBasics
import Foundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import StateFiles

@Suite(.timeLimit(.minutes(1))) struct DiskSpaceTests {
    private struct Said: Error, CustomStringConvertible { var description: String }

    private static let wrapped = NSError(
        domain: NSCocoaErrorDomain, code: CocoaError.Code.fileWriteUnknown.rawValue,
        userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(EDQUOT))])

    @Test(
        arguments: [
            (SystemFailure("write", ENOSPC), true), (SystemFailure("write", EDQUOT), true),
            (SystemFailure("write", EIO), false), (Errno.noSpace, true), (Errno.ioError, false),
            (CocoaError(.fileWriteOutOfSpace), true), (CocoaError(.fileNoSuchFile), false),
            (POSIXError(.EDQUOT), true), (POSIXError(.EIO), false), (wrapped, true),
            (Said(description: "failed to write chunk: No space left on device"), false),
        ] as [(any Error & Sendable, Bool)])
    func `a full disk is recognised by the code of the error`(error: any Error & Sendable, isExhausted: Bool) {
        #expect(DiskSpace.isExhausted(error) == isExhausted)
    }

    @Test func `the free space of a folder that is gone is unknown`() async throws {
        try await withTemporaryFolder { folder in
            let free = try #require(DiskSpace.free(at: folder))
            #expect(free >= 0)
            #expect(DiskSpace.free(at: "\(folder)/none") == nil)
        }
    }

    @Test func `the reserve is written once and released once`() async throws {
        try await withTemporaryFolder { folder in
            let reserve = ReservedDiskSpace(path: "\(folder)/ballast")
            #expect(!reserve.isWhole && !reserve.release())
            reserve.renew()
            // Without room for it the reserve is not made, and nothing is left of the attempt.
            let hasRoom = try #require(DiskSpace.free(at: folder)) >= 4 * ReservedDiskSpace.bytes
            #expect(reserve.isWhole == hasRoom)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/ballast.new"))
            #expect(reserve.release() == hasRoom && !reserve.isWhole)
        }
    }
}
