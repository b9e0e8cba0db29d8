internal import Foundation
internal import SystemCalls
internal import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The free space of a disk, and errors that say that there is none.
public enum DiskSpace {
    /// Bytes that this user may still write on the disk of `path`; nil if that can't be found out.
    public static func free(at path: String) -> Int? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        return Int(info.f_bavail) * Int(info.f_frsize)
    }

    /// Whether an error, of whatever library, says that the disk or the user's share of it is full.
    package static func isExhausted(_ error: any Error) -> Bool {
        switch error {
        case let failure as SystemFailure: return [ENOSPC, EDQUOT].contains(failure.number)
        case let number as Errno: return [ENOSPC, EDQUOT].contains(number.rawValue)
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: return true
        default: break
        }
        // Git and SQLite tell it in words only: strerror(3) of the two numbers, and SQLite's own.
        let text = "\(error)".lowercased()
        return ["no space left", "disk quota exceeded", "disk is full"].contains { text.contains($0) }
    }
}
