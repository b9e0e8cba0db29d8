/// An error that may come from the system.
package protocol HasSystemError: Error {
    /// The value of `errno`, if it does.
    var systemError: Int32? { get }
}
