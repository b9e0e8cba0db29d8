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

    /// Whether an error of the system or of Foundation says that the disk, or the user's share of it, is full. Errors
    /// are told apart by their codes, never by their words.
    package static func isExhausted(_ error: any Error) -> Bool { errno(of: error).map(isExhausted) ?? false }

    /// The same for a value of `errno`.
    package static func isExhausted(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

    private static func errno(of error: any Error) -> Int32? {
        switch error {
        case let failure as SystemFailure: return failure.number
        case let number as Errno: return number.rawValue
        default: break
        }
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(exactly: error.code) }
        if error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue {
            return ENOSPC
        }
        return (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(errno)
    }
}
