internal import Foundation

/// A system call that failed, with its `errno`.
package struct SystemFailure: HasSystemError, CustomStringConvertible {
    package let call: String
    /// The value of `errno`.
    package let number: Int32

    package init(_ call: String, _ number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    package var systemError: Int32? { number }
    package var description: String { "\(call) failed: \(String(cString: strerror(number))) (errno \(number))" }
}
