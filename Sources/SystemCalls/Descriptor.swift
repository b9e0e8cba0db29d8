internal import Foundation

/// An open file descriptor, closed when nobody holds it any more.
///
/// Who waits for it holds it too, so its number is never handed out again while the kernel still looks at it.
package final class Descriptor: Sendable {
    /// For one call. Whoever has nothing but this descriptor and means to use the number longer calls ``use(_:)``: a
    /// value ends with its last use, and the number may be another file's then.
    package let number: Int32

    /// Takes ownership of `number`.
    package init(_ number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// Calls `body` with the number, which stays this file's meanwhile.
    package func use<Value, Failure: Error>(_ body: (Int32) throws(Failure) -> Value) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try body(number)
    }
}
