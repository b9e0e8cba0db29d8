import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes messages to a file descriptor, one per line.
public struct LineOutput: Sendable {
    private let descriptor: Int32
    /// A serial queue: lines neither mix nor overtake each other, and a slow reader blocks none of our tasks.
    private let queue = DispatchQueue(label: "lines out")

    private let owner: (any AnyObject & Sendable)?

    /// Uses an open descriptor, which stays open.
    ///
    /// - Parameter owner: Lives until the last write: whoever closes the descriptor in the end.
    public init(descriptor: Int32 = 1, holding owner: (any AnyObject & Sendable)? = nil) {
        self.descriptor = descriptor
        self.owner = owner
    }

    /// Returns when the kernel has the message. If the reader is gone, the message is dropped.
    func send(_ message: JSON) async {
        let line = message.bytes + [UInt8(ascii: "\n")]
        let (descriptor, owner) = (descriptor, owner)
        await withCheckedContinuation { continuation in
            queue.async {
                var rest = line[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    rest = rest.dropFirst(count)
                }
                withExtendedLifetime(owner) {}
                continuation.resume()
            }
        }
    }
}
