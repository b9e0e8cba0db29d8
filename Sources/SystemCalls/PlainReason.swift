internal import Foundation

extension Error {
    /// The system's message, without the words that Foundation adds.
    package var plainReason: String {
        let error = self as NSError
        // It may be a `POSIXError`, which is an error of Swift and no object on Linux.
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        if cause.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(truncatingIfNeeded: cause.code)))
        }
        return cause.domain == NSCocoaErrorDomain ? error.localizedDescription : "\(self)"
    }
}
